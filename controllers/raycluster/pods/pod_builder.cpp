#include "controllers/raycluster/pods/pod_builder.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "api/base/mutex.h"
#include "api/base/strings.h"
#include "api/types/json_text.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/pods/autoscaler.h"
#include "controllers/raycluster/pods/environment.h"
#include "controllers/raycluster/pods/pod_parts.h"
#include "controllers/raycluster/pods/ray_start.h"
#include "controllers/raycluster/pods/token_auth.h"
#include "controllers/raycluster/rules/host_names.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/upgrade.h"
#include "tpu/labels.h"
#include "tpu/rules/pod_mutator.h"

namespace tpuslice::raycluster {
namespace {

/// Defaults, then the user's labels, then those that users cannot override.
Json pod_labels(const RayClusterSpec& spec, const GroupSpec& group, NodeType type, std::string_view group_name,
                const Json& from_template, const PodDefaults& defaults) {
  Json labels = defaults.labels;
  set_label(labels, kIsRayNode, "yes");
  set_label(labels, kIdentifier, identifier(spec, to_string(type)));
  set_label(labels, tpu::kAppName, kApplication);
  set_label(labels, kCreatedBy, kOperator);
  labels.update(from_template);
  for (const auto& [key, value] : group.labels) labels[key] = value;
  set_label(labels, kRayCluster, spec.key.name);
  set_label(labels, kRayNodeType, to_string(type));
  set_label(labels, kRayGroup, group_name);
  return labels;
}

Json pod_metadata(const RayClusterSpec& spec, const GroupSpec& group, NodeType type, std::string_view group_name,
                  std::string name, const PodDefaults& defaults, const StringMap& hashes) {
  Json metadata = object_at(*group.pod_template, {"metadata"});
  for (const char* key : {"generateName", "uid", "resourceVersion", "creationTimestamp", "generation", "selfLink"}) {
    metadata.erase(key);
  }
  metadata["name"] = std::move(name);
  metadata["namespace"] = spec.key.namespace_name;
  metadata["labels"] = pod_labels(spec, group, type, group_name, object_at(metadata, {"labels"}), defaults);
  Json annotations = defaults.annotations;
  annotations.update(object_at(metadata, {"annotations"}));
  if (equals_ignoring_case(value_of(spec.annotations, kOverwriteCommand), "true"))
    annotations[kOverwriteCommand] = "true";
  if (type == NodeType::kHead) annotate_fault_tolerance(spec, annotations);
  for (const auto& [key, value] : hashes) annotations[key] = value;
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  metadata["ownerReferences"] = Json::array({spec.owner.to_json()});
  return metadata;
}

void add_metrics_port(Json& container) {
  Json& ports = container["ports"];
  if (!ports.is_array()) ports = Json::array();
  const bool declared =
      std::ranges::any_of(ports, [](const Json& port) { return string_at(port, {"name"}) == "metrics"; });
  if (!declared) ports.push_back({{"name", "metrics"}, {"containerPort", kMetricsPort}});
}

/// Has no time-out: a worker that starts before its head would fail and be restarted.
Json wait_for_gcs(const Json& ray_container, const std::string& address) {
  const Json resources = {{"cpu", "200m"}, {"memory", "256Mi"}};
  const std::string script = fmt::format(
      "until ray health-check --address {0} > /dev/null 2>&1; do\n"
      "  echo \"$SECONDS seconds elapsed: waiting for the GCS at {0}.\"\n"
      "  if (( SECONDS > 120 )); then ray health-check --address {0} && break; fi\n"
      "  sleep 5\n"
      "done\n"
      "echo \"The GCS is ready.\"\n",
      address);
  Json out = {{"name", kWaitGcsReady},
              {"command", {"/bin/bash", "-c", "--"}},
              {"args", Json::array({script})},
              {"resources", {{"limits", resources}, {"requests", resources}}}};
  for (const char* member : {"image", "imagePullPolicy", "securityContext", "env", "volumeMounts"}) {
    if (const auto found = ray_container.find(member); found != ray_container.end()) out[member] = *found;
  }
  return out;
}

/// A container of the same name as one of the pod's would make the pod invalid.
void add_sidecars(const Json& sidecars, Json& containers) {
  for (const Json& sidecar : sidecars) {
    const std::string name = string_at(sidecar, {"name"});
    const bool in_use =
        std::ranges::any_of(containers, [&](const Json& container) { return string_at(container, {"name"}) == name; });
    if (!in_use) containers.push_back(sidecar);
  }
}

/// Sets the label by which the serve service selects pods. A single-host worker is always selected, since its readiness
/// includes that of its Serve proxy. Hosts of a multi-host slice have a proxy only with replicas of an application, and
/// the head must be ready before it has one: for these, the RayService controller sets the label.
void add_serving(Json& pod, bool single_host, bool add_probe, const StringMap& ray_start_params) {
  set_label(pod["metadata"]["labels"], kServe, single_host ? "true" : "false");
  if (single_host && add_probe) probe_serve_proxy(pod["spec"]["containers"][0], ray_start_params);
}

struct PodParts {
  NodeType type = NodeType::kWorker;
  std::string_view group_name;
  std::string name;
  std::string path;  ///< Path of the group in the cluster, for errors.
  StringMap hashes;  ///< Annotations.
  bool single_host = false;
};

Status check_template(const RayClusterSpec& spec, const GroupSpec& group, const std::string& path) {
  if (!group.ray_container().empty()) return {};
  return Error::invalid_argument(
      "RayCluster {}: {}.template.spec.containers has no container with a name; the first one is the Ray container",
      spec.key.to_string(), path);
}

Result<Json> build_pod(const RayClusterSpec& spec, const GroupSpec& group, PodParts parts, const Options& options) {
  RETURN_IF_ERROR(check_template(spec, group, parts.path));
  const std::string fqdn = head_service_fqdn(spec, options.cluster_domain);
  const std::string port = spec.head.port();
  const std::string address = fqdn + ":" + port;
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", pod_metadata(spec, group, parts.type, parts.group_name, std::move(parts.name),
                                        options.pod_defaults, parts.hashes)},
              {"spec", object_at(*group.pod_template, {"spec"})}};
  Json& pod_spec = pod["spec"];
  const bool is_head = parts.type == NodeType::kHead;
  const bool autoscaled = is_head && spec.autoscaling.enabled;
  if (autoscaled) add_autoscaler(spec, pod_spec);
  // The kubelet must not restart a worker that the autoscaler has drained.
  if (spec.autoscaling.explicit_v2()) pod_spec["restartPolicy"] = "Never";
  add_sidecars(is_head ? options.pod_defaults.head_sidecars : options.pod_defaults.worker_sidecars,
               pod_spec["containers"]);
  Json& init_containers = pod_spec["initContainers"];
  if (!init_containers.is_array()) init_containers = Json::array();
  Json& container = pod_spec["containers"][0];
  if (parts.type == NodeType::kWorker && options.wait_for_gcs) {
    init_containers.push_back(wait_for_gcs(container, address));
  }
  add_fault_tolerance(spec, parts.type, container);
  if (spec.auth.token) add_pod_token_auth(spec, pod_spec);
  for (Json& init : init_containers) add_init_environment(init, fqdn);
  if (init_containers.empty()) pod_spec.erase("initContainers");

  add_metrics_port(container);
  StringMap params = ray_start_params(group, parts.type, container, address);
  // The monitor that `ray start` runs contains an autoscaler without support for Kubernetes.
  if (autoscaled) params["no-monitor"] = "true";
  if (is_head) add_redis_credentials(spec.fault_tolerance, params);
  add_shared_memory(pod_spec, container, params);
  if (autoscaled) share_logs_with_autoscaler(pod_spec);
  const bool probed = container.contains("readinessProbe");
  const std::string ray_start = ray_start_command(params, parts.type);
  const std::string overwrites = string_at(pod, {"metadata", "annotations", kOverwriteCommand});
  set_ray_command(container, ray_start, !equals_ignoring_case(overwrites, "true"));
  add_ray_environment(container, {parts.type, fqdn, port, ray_start, spec.creator}, options);
  if (options.inject_probes) add_probes(container, parts.type, params, spec.ray_version);
  if (spec.serves()) add_serving(pod, parts.single_host, options.inject_probes && !probed, params);
  return pod;
}

}  // namespace

/// Cache of the texts of the slices that were built last. Thread-safe.
class WorkerPodBuilder::Texts {
 public:
  using Ptr = std::shared_ptr<const SliceText>;

  /// Null where the pods must be built one by one.
  Ptr get(const WorkerPodBuilder& builder, int replica) TPUSLICE_EXCLUDES(mutex_) {
    const std::shared_ptr<Entry> entry = find(replica);
    // One thread makes the text; others that need it wait.
    std::call_once(entry->once, [&] { entry->text = make(builder, replica); });
    return entry->text;
  }

 private:
  struct Entry {
    int replica = 0;
    std::once_flag once;
    Ptr text;
  };
  /// Enough for slices of two hosts with as many creates in flight as the executor allows.
  static constexpr std::size_t kMaxEntries = 8;

  std::shared_ptr<Entry> find(int replica) TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found =
        std::ranges::find_if(entries_, [&](const std::shared_ptr<Entry>& each) { return each->replica == replica; });
    if (found != entries_.end()) return *found;
    if (entries_.size() == kMaxEntries) entries_.pop_front();
    entries_.push_back(std::make_shared<Entry>());
    entries_.back()->replica = replica;
    return entries_.back();
  }

  /// Once for the group, the text of its last host is compared with the pod itself.
  Ptr make(const WorkerPodBuilder& builder, int replica) {
    std::optional<SliceText> text = builder.slice_text(replica);
    if (!text) return nullptr;
    std::call_once(checked_, [&] {
      const WorkerIndex last{replica, builder.hosts_ - 1};
      const Result<Object> pod = builder.build(last);
      usable_ = pod.ok() && text->of(builder.host(last)) == print_json(pod->json());
    });
    return usable_ ? std::make_shared<const SliceText>(*std::move(text)) : nullptr;
  }

  Mutex mutex_;
  std::deque<std::shared_ptr<Entry>> entries_ TPUSLICE_GUARDED_BY(mutex_);
  std::once_flag checked_;
  bool usable_ = false;  ///< Written once, before others read it.
};

WorkerPodBuilder::WorkerPodBuilder() : texts_(std::make_shared<Texts>()) {}

Result<Object> build_head_pod(const RayClusterSpec& spec, const Options& options) {
  PodParts parts{NodeType::kHead, kHeadGroup, head_pod_name(spec), "spec.headGroupSpec",
                 hash_annotations(spec, nullptr)};
  ASSIGN_OR_RETURN(Json pod, build_pod(spec, spec.head, std::move(parts), options));
  Result<Json> mutated = rules::mutate_pod(std::move(pod), options.mutation);
  if (!mutated) return mutated.error().within(fmt::format("RayCluster {}: head group", spec.key.to_string()));
  return Object(*std::move(mutated));
}

Result<WorkerPodBuilder> WorkerPodBuilder::create(const RayClusterSpec& spec, const WorkerGroup& group,
                                                  const Options& options) {
  PodParts parts{NodeType::kWorker,
                 group.name,
                 {},
                 fmt::format("spec.workerGroupSpecs[groupName={}]", group.name),
                 hash_annotations(spec, &group),
                 group.hosts == 1};
  WorkerPodBuilder out;
  ASSIGN_OR_RETURN(out.common_, build_pod(spec, group, std::move(parts), options));
  out.cluster_.key = spec.key;
  out.cluster_.uid = spec.uid;
  out.group_ = group.name;
  out.hosts_ = group.hosts;
  out.mutation_ = options.mutation;
  return out;
}

ObjectKey WorkerPodBuilder::key(WorkerIndex index) const {
  return {cluster_.key.namespace_name, worker_pod_name(cluster_, group_, index)};
}

Result<Object> WorkerPodBuilder::build(WorkerIndex index) const {
  Json pod = common_;
  Json& metadata = pod["metadata"];
  metadata["name"] = key(index).name;
  Json& labels = metadata["labels"];
  set_label(labels, kRayReplicaIndex, std::to_string(index.replica));
  if (hosts_ > 1) {
    set_label(labels, kRayReplicaName, replica_name(cluster_, group_, index.replica));
    set_label(labels, kRayHostIndex, std::to_string(index.host));
    // Otherwise a replica that lost hosts would look complete if numOfHosts decreases.
    set_label(metadata["annotations"], tpu::kSliceHosts, std::to_string(hosts_));
  }
  Result<Json> mutated = rules::mutate_pod(std::move(pod), mutation_);
  if (!mutated) {
    return mutated.error().within(fmt::format("RayCluster {}: worker group {}", cluster_.key.to_string(), group_));
  }
  return Object(*std::move(mutated));
}

SliceHost WorkerPodBuilder::host(WorkerIndex index) const {
  return {index.host, key(index).name, ray_worker_hostnames(group_, index.replica).of(index.host)};
}

/// Nothing if a template sets a field that differs between the hosts, so that the pods must be built one by one.
std::optional<SliceText> WorkerPodBuilder::slice_text(int replica) const {
  Result<Object> first = build({replica, 0});
  if (!first) return std::nullopt;
  return SliceText::make(std::move(first->mutable_json()), common_);
}

Result<std::string> WorkerPodBuilder::text(WorkerIndex index) const {
  if (hosts_ > 1) {
    if (const Texts::Ptr slice = texts_->get(*this, index.replica)) return slice->of(host(index));
  }
  ASSIGN_OR_RETURN(const Object pod, build(index));
  return print_json(pod.json());
}

Result<Object> build_worker_pod(const RayClusterSpec& spec, const WorkerGroup& group, WorkerIndex index,
                                const Options& options) {
  ASSIGN_OR_RETURN(const WorkerPodBuilder builder, WorkerPodBuilder::create(spec, group, options));
  return builder.build(index);
}

}  // namespace tpuslice::raycluster
