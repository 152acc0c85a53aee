#include "tests/e2e/faults/ray_namespace.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/types/yaml.h"
#include "controllers/raycluster/raycluster_reconciler.h"
#include "tests/support/ray_world.h"

namespace tpuslice::testing {
namespace {

constexpr const char* kName = "train";
constexpr const char* kTokenVolume = "kube-api-access-";  ///< A random suffix follows.
constexpr const char* kManifest = R"(
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: train}
spec:
  headGroupSpec:
    rayStartParams: {}
    template:
      spec:
        containers: [{name: ray-head, image: ray}]
  workerGroupSpecs:
    - groupName: tpu
      replicas: 1
      numOfHosts: 2
      rayStartParams: {}
      template:
        spec:
          containers:
            - name: ray-worker
              image: ray
              resources: {limits: {google.com/tpu: "4"}, requests: {google.com/tpu: "4"}}
          nodeSelector:
            cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice
            cloud.google.com/gke-tpu-topology: 2x4
)";

constexpr ResourceType kServiceAccounts{"", "v1", "ServiceAccount", "serviceaccounts"};

const ResourceType& ray_clusters() { return raycluster::kRayClusters; }

std::string label_of(const Json& object, const char* name) { return string_at(object, {"metadata", "labels", name}); }

bool is_ready(const Json& pod) {
  return sim::condition_status(pod, "Ready") == "True" && !pod["metadata"].contains("deletionTimestamp");
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); !from.empty() && at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

/// The part from the last '-': a hash of the uid of the RayCluster.
std::string suffix(const std::string& name) {
  const std::size_t dash = name.rfind('-');
  return dash == std::string::npos ? std::string() : name.substr(dash);
}

Json comparable(const Json& object) {
  const Json& metadata = object["metadata"];
  Json kept = {{"name", metadata["name"]},
               {"labels", metadata.value("labels", Json())},
               {"annotations", metadata.value("annotations", Json())},
               {"spec", object["spec"]},
               {"terminating", metadata.contains("deletionTimestamp")},
               {"owner", string_at(metadata, {"ownerReferences", "0", "name"})}};
  if (string_at(object, {"kind"}) == "RayCluster") {
    kept["status"] = object.value("status", Json());
  } else if (object.contains("status")) {
    kept["phase"] = string_at(object, {"status", "phase"});
    kept["ready"] = sim::condition_status(object, "Ready");
  }
  strip_volatile(kept);
  return kept;
}

}  // namespace

Status RayNamespace::create() {
  const auto created = client_.create(
      kNamespaces, Object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name_}}}}));
  if (!created) return created.error();
  const auto account =
      client_.create(kServiceAccounts, Object({{"apiVersion", "v1"},
                                               {"kind", "ServiceAccount"},
                                               {"metadata", {{"name", "default"}, {"namespace", name_}}}}));
  if (!account && account.error().code() != ErrorCode::kAlreadyExists) return account.error();
  return {};
}

Status RayNamespace::apply() {
  Json manifest = parse_yaml(kManifest).value();
  manifest["metadata"]["namespace"] = name_;
  const auto created = client_.create(ray_clusters(), Object(std::move(manifest)));
  if (!created) return created.error();
  return {};
}

Status RayNamespace::remove() { return client_.remove(ray_clusters(), {name_, kName}); }

Status RayNamespace::remove_children() {
  for (const ResourceType& type : {kPods, kServices}) {
    for (const Json& object : objects(type)) {
      RETURN_IF_ERROR(client_.remove(type, Object(object).key(), {.grace_seconds = 0}));
    }
  }
  return {};
}

Status RayNamespace::fail_worker(int host) {
  for (const Json& pod : workers()) {
    if (label_of(pod, "ray.io/replica-host-index") != std::to_string(host)) continue;
    const auto failed = client_.update_status(kPods, Object(pod).key(), {{"phase", "Failed"}, {"reason", "Evicted"}});
    if (!failed) return failed.error();
    return {};
  }
  return Error::not_found("{}: no worker with host index {}", name_, host);
}

std::vector<Json> RayNamespace::objects(const ResourceType& type) {
  std::vector<Json> out;
  const auto page = client_.list(type, {.namespace_name = name_, .limit = 0});
  if (!page) return out;
  for (const std::string& item : page->items) out.push_back(parse_json(item).value());
  for (Json& object : out) object["kind"] = type.kind;
  return out;
}

std::vector<Json> RayNamespace::workers() {
  std::vector<Json> pods = objects(kPods);
  std::erase_if(pods, [](const Json& pod) { return label_of(pod, "ray.io/node-type") != "worker"; });
  return pods;
}

bool RayNamespace::ready() {
  const auto cluster = client_.get(ray_clusters(), {name_, kName});
  if (!cluster || string_at(cluster->json(), {"status", "state"}) != "ready" ||
      int_at(cluster->json(), {"status", "availableWorkerReplicas"}) != kHosts) {
    return false;
  }
  const std::vector<Json> pods = objects(kPods);
  return pods.size() == kHosts + 1 && std::all_of(pods.begin(), pods.end(), is_ready);
}

bool RayNamespace::rebuilt(const std::set<std::string>& before) {
  if (!ready()) return false;
  const std::set<std::string> now = worker_uids();
  return now.size() == kHosts &&
         std::none_of(now.begin(), now.end(), [&](const std::string& uid) { return before.contains(uid); });
}

bool RayNamespace::is_deleted() {
  const auto cluster = client_.get(ray_clusters(), {name_, kName});
  if (cluster || cluster.error().code() != ErrorCode::kNotFound) return false;
  for (const ResourceType& type : {kPods, kServices}) {
    const auto page = client_.list(type, {.namespace_name = name_, .limit = 0});
    if (!page || !page->items.empty()) return false;
  }
  return true;
}

std::set<std::string> RayNamespace::worker_uids() {
  std::set<std::string> out;
  for (const Json& pod : workers()) out.insert(Object(pod).uid());
  return out;
}

std::vector<std::string> RayNamespace::children() {
  std::vector<std::string> out;
  for (const ResourceType& type : {kPods, kServices}) {
    for (const Json& object : objects(type)) out.push_back(Object(object).name());
  }
  return out;
}

std::string RayNamespace::digest() {
  std::vector<std::pair<std::string, std::string>> common = {{name_, "NAMESPACE"}};
  std::string out;
  for (const ResourceType& type : {kPods, kServices, ray_clusters()}) {
    for (const Json& object : objects(type)) {
      if (type == kPods) common.emplace_back(suffix(Object(object).name()), "-HASH");
      for (const Json& volume : array_at(object, {"spec", "volumes"})) {
        const std::string name = string_at(volume, {"name"});
        if (name.starts_with(kTokenVolume)) common.emplace_back(name, kTokenVolume);
      }
      for (const char* label : {"ray.io/worker-group-replica-name", "tpuslice.dev/slice"}) {
        common.emplace_back(suffix(label_of(object, label)), "-HASH");
      }
      out += std::string(type.plural) + " " + comparable(object).dump(1) + "\n";
    }
  }
  for (const auto& [from, to] : common) replace_all(out, from, to);
  return out;
}

}  // namespace tpuslice::testing
