#include "cmd/tpu-slice-sim/cluster/cluster.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/types/yaml.h"
#include "cmd/tpu-slice-sim/cluster/nodes/accelerator_tolerations.h"
#include "cmd/tpu-slice-sim/cluster/nodes/pod_status.h"
#include "cmd/tpu-slice-sim/registry/scale.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/server/in_process_transport.h"

namespace tpuslice::sim {

namespace {

constexpr int kMaxRounds = 20'000;  ///< At one time. More means that two controllers undo each other's writes.
constexpr Duration kMinStep = std::chrono::milliseconds(1);

std::uint64_t jitter_seed(const ClusterOptions& options) { return options.jitter ? options.seed : 0; }

KubeletOptions kubelet_options(const ClusterOptions& options) {
  KubeletOptions out = options.kubelet;
  out.seed = jitter_seed(options);
  return out;
}

std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a) return b;
  return b ? std::min(*a, *b) : a;
}

bool defines_resources(const Json& manifest) { return string_at(manifest, {"kind"}) == "CustomResourceDefinition"; }

/// Replaces all of `json` but the status; labels and annotations are merged.
void replace_content(Json& json, const Json& manifest) {
  for (const auto& [field, value] : manifest.items()) {
    if (field != "metadata" && field != "status") json[field] = value;
  }
  for (const char* field : {"labels", "annotations"}) {
    const Json* wanted = find_path(manifest, {"metadata", field});
    if (wanted == nullptr) continue;
    for (const auto& [key, value] : wanted->items()) json["metadata"][field][key] = value;
  }
}

/// The admission plugin Priority, except for the system classes. Errors: Forbidden for an unknown class.
Status resolve_priority(Registry& registry, const Resource& pods, const ObjectKey& key, Json& pod) {
  const std::string name = string_at(pod, {"spec", "priorityClassName"});
  if (name.empty() || name.starts_with("system-")) return {};
  const JsonPtr found = registry.storage().get("priorityclasses.scheduling.k8s.io", {"", name});
  if (found == nullptr) return forbidden(pods, key.name, fmt::format("no PriorityClass with name {} was found", name));
  pod["spec"]["priority"] = int_at(*found, {"value"});
  pod["spec"]["preemptionPolicy"] = string_at(*found, {"preemptionPolicy"}, "PreemptLowerPriority");
  return {};
}

}  // namespace

Cluster::Cluster(const Clock& clock, ClusterOptions options)
    : clock_(clock),
      options_(std::move(options)),
      storage_(options_.history),
      registry_(storage_, clock_, options_.seed),
      api_server_(std::make_unique<ApiServer>(registry_)),
      scheduler_(registry_, {.seed = jitter_seed(options_)}),
      kubelet_(registry_, kubelet_options(options_)),
      node_lifecycle_(registry_),
      garbage_collector_(registry_),
      namespaces_(registry_, options_.ca),
      endpoint_slices_(registry_),
      jobs_(registry_),
      finished_jobs_(registry_),
      stateful_sets_(registry_) {
  const auto admit = [this](const AdmissionRequest& request) -> Result<Json> {
    const bool new_pod =
        request.operation == "CREATE" && request.subresource.empty() && request.resource->id() == "pods";
    if (!new_pod) return webhooks_ ? webhooks_(request) : request.object;
    AdmissionRequest next = request;
    RETURN_IF_ERROR(resolve_priority(registry_, *next.resource, next.key, next.object));
    tolerate_accelerators(next.object);
    copy_topology_labels(storage_, string_at(next.object, {"spec", "nodeName"}), next.object);
    if (!webhooks_) return std::move(next.object);
    return webhooks_(next);
  };
  registry_.set_admission(admit, [this](const AdmissionRequest& request) {
    return validating_webhooks_ ? validating_webhooks_(request) : Status();
  });
  create_world();
}

Cluster::~Cluster() = default;

void Cluster::create_world() {
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    const auto created = apply({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
    TPUSLICE_CHECK_MSG(created.ok(), created.ok() ? "" : created.error().message());
  }
  int index = 0;
  for (const NodePool& pool : options_.pools) {
    for (int host = 0; host < pool.hosts; ++host) {
      const Status created = create_node(pool, host, index++);
      TPUSLICE_CHECK_MSG(created.ok(), created.ok() ? "" : created.error().message());
    }
  }
  for (Json node : options_.nodes) {
    node["spec"]["podCIDR"] = pod_network(index++);
    const auto created = registry_.create(*registry_.resources().find_id("nodes"), Object(node));
    TPUSLICE_CHECK_MSG(created.ok(), created.ok() ? "" : created.error().message());
  }
}

Status Cluster::create_node(const NodePool& pool, int host, int index) {
  const Json node = make_node(pool, host, index, format_rfc3339(clock_.wall()));
  RETURN_IF_ERROR(registry_.create(*registry_.resources().find_id("nodes"), Object(node)));
  return {};
}

std::unique_ptr<http::Transport> Cluster::transport(UserInfo user) {
  return std::make_unique<InProcessTransport>(*api_server_, std::move(user));
}

bool Cluster::step() {
  const Instant now = clock_.now();
  bool wrote = namespaces_.step();
  wrote |= garbage_collector_.step();
  wrote |= node_lifecycle_.step(now);
  wrote |= jobs_.step(now);
  wrote |= finished_jobs_.step(now);
  wrote |= stateful_sets_.step(now);
  wrote |= scheduler_.step();
  wrote |= kubelet_.step(now);
  wrote |= endpoint_slices_.step();
  return wrote;
}

std::optional<Instant> Cluster::settle(const Participant& participant) {
  for (int round = 0; round < kMaxRounds; ++round) {
    const Revision before = storage_.revision();
    step();
    std::optional<Instant> due;
    if (participant) due = participant(clock_.now());
    if (storage_.revision() == before) return earlier(due, next_due());
  }
  check_failed("settles", __FILE__, __LINE__,
               fmt::format("the cluster of seed {} does not come to rest", options_.seed));
}

std::optional<Instant> Cluster::next_due() const {
  const auto jobs = earlier(jobs_.next_due(), finished_jobs_.next_due());
  const auto workloads = earlier(jobs, stateful_sets_.next_due());
  return earlier(workloads, earlier(kubelet_.next_due(), node_lifecycle_.next_due()));
}

void Cluster::run_for(FakeClock& clock, Duration duration, const Participant& participant) {
  run_until(
      clock, duration, [] { return false; }, participant);
}

bool Cluster::run_until(FakeClock& clock, Duration limit, const std::function<bool()>& condition,
                        const Participant& participant) {
  const Instant end = clock.now() + limit;
  for (;;) {
    const std::optional<Instant> due = settle(participant);
    if (condition()) return true;
    const Instant now = clock.now();
    if (now >= end) return false;
    const Instant next = std::max(due.value_or(end), now + kMinStep);
    clock.advance(std::min(next, end) - now);
  }
}

Result<Object> Cluster::apply(Json manifest) {
  const std::string api_version = string_at(manifest, {"apiVersion"});
  const std::string kind = string_at(manifest, {"kind"});
  const ResourcePtr resource = registry_.resources().find_kind(api_version, kind);
  if (resource == nullptr) {
    return Error::invalid_argument("no matches for kind \"{}\" in version \"{}\"", kind, api_version);
  }
  if (resource->namespaced && string_at(manifest, {"metadata", "namespace"}).empty()) {
    manifest["metadata"]["namespace"] = "default";
  }
  const ObjectKey key = Object(manifest).key();
  if (storage_.get(resource->id(), key) == nullptr) return registry_.create(*resource, Object(manifest));
  return registry_.modify(*resource, key, {}, [&](Json& json) -> Status {
    replace_content(json, manifest);
    return {};
  });
}

Status Cluster::apply_yaml(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<YamlDocument> documents, parse_yaml_documents(text));
  std::stable_partition(documents.begin(), documents.end(),
                        [](const YamlDocument& document) { return defines_resources(document.value); });
  for (YamlDocument& document : documents) {
    const int line = document.line;
    if (auto applied = apply(std::move(document.value)); !applied) {
      return applied.error().within(fmt::format("line {}", line));
    }
  }
  return {};
}

JsonPtr Cluster::get(std::string_view resource, const ObjectKey& key) const { return storage_.get(resource, key); }

Status Cluster::remove(std::string_view resource, const ObjectKey& key, const std::string& propagation) {
  const ResourcePtr found = registry_.resources().find_id(resource);
  if (found == nullptr) return Error::invalid_argument("no resource is named \"{}\"", resource);
  DeleteOptions options;
  options.propagation = propagation;
  RETURN_IF_ERROR(registry_.remove(*found, key, options));
  return {};
}

Status Cluster::change(std::string_view resource, const ObjectKey& key, std::string_view subresource,
                       const std::function<void(Json&)>& edit) {
  RETURN_IF_ERROR(
      registry_.modify(*registry_.resources().find_id(resource), key, subresource, [&](Json& json) -> Status {
        edit(json);
        return {};
      }));
  return {};
}

Status Cluster::fail_pod(const ObjectKey& key, int exit_code, const std::string& reason) {
  return change("pods", key, "status", [&](Json& pod) { fail(pod, exit_code, reason, {}, clock_.wall()); });
}

Status Cluster::kill_container(const ObjectKey& key, const std::string& container, int exit_code) {
  const JsonPtr pod = storage_.get("pods", key);
  if (pod != nullptr && seen(*pod, container).state != ContainerState::kRunning) {
    return Error::invalid_argument("pod {}: container \"{}\" is not running", key.to_string(), container);
  }
  return change("pods", key, "status", [&](Json& json) {
    terminate(json, container, false, exit_code, clock_.wall());
    conclude(json, clock_.wall());
  });
}

Status Cluster::set_node_ready(const std::string& node, bool ready) {
  return change("nodes", {"", node}, {}, [&](Json& json) {
    Json& annotations = json["metadata"]["annotations"];
    if (!annotations.is_object()) annotations = Json::object();
    if (ready) {
      annotations.erase(std::string(kNodeReadyAnnotation));
    } else {
      annotations[std::string(kNodeReadyAnnotation)] = "false";
    }
  });
}

Status Cluster::cordon(const std::string& node, bool unschedulable) {
  return change("nodes", {"", node}, {}, [&](Json& json) {
    if (unschedulable) {
      json["spec"]["unschedulable"] = true;
    } else {
      json["spec"].erase("unschedulable");
    }
  });
}

Status Cluster::delete_node(const std::string& node) { return remove("nodes", {"", node}); }

Status Cluster::restore_node(const std::string& node) {
  int index = 0;
  for (const NodePool& pool : options_.pools) {
    for (int host = 0; host < pool.hosts; ++host, ++index) {
      if (node_name(pool, host) == node) return create_node(pool, host, index);
    }
  }
  return Error::not_found("node \"{}\" belongs to no pool", node);
}

}  // namespace tpuslice::sim
