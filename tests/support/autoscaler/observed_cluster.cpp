#include "tests/support/autoscaler/observed_cluster.h"

#include <algorithm>
#include <tuple>

namespace tpuslice::testing {
namespace {

/// --expendable-pods-priority-cutoff
constexpr std::int64_t kLowestPriority = -10;

bool is_daemon(const Json& pod) {
  if (find_path(pod, {"metadata", "annotations", "kubernetes.io/config.mirror"}) != nullptr) return true;
  const auto controller = Object(pod).controller();
  return controller && controller->kind == "DaemonSet";
}

bool is_unschedulable(const Json& pod) {
  for (const Json& condition : array_at(pod, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) != "PodScheduled") continue;
    return string_at(condition, {"status"}) == "False" && string_at(condition, {"reason"}) == "Unschedulable";
  }
  return false;
}

}  // namespace

ObservedPod ObservedPod::decode(const Json& pod) {
  ObservedPod seen;
  seen.info = sim::PodInfo::decode(pod);
  seen.created = string_at(pod, {"metadata", "creationTimestamp"});
  seen.nominated_node = string_at(pod, {"status", "nominatedNodeName"});
  seen.consumed_request = string_at(pod, {"metadata", "annotations", kConsumeRequest});
  seen.unschedulable = is_unschedulable(pod);
  seen.daemon = is_daemon(pod);
  return seen;
}

bool ObservedPod::asks_for_nodes() const {
  return unschedulable && info.node_name.empty() && !info.terminating && !info.finished && nominated_node.empty() &&
         consumed_request.empty() && !daemon && info.priority >= kLowestPriority;
}

bool ObservedPod::keeps_node() const {
  return !info.node_name.empty() && !info.finished && !daemon && info.priority >= kLowestPriority;
}

Result<std::vector<Json>> list_all(client::Reader& reader, const ResourceType& type) {
  std::vector<Json> objects;
  client::ListOptions options;
  do {
    ASSIGN_OR_RETURN(const client::ListPage page, reader.list(type, options, {}));
    for (const std::string& item : page.items) {
      ASSIGN_OR_RETURN(Json object, parse_json(item));
      objects.push_back(std::move(object));
    }
    options.continue_token = page.continue_token;
  } while (!options.continue_token.empty());
  return objects;
}

Result<ObservedCluster> observe_cluster(client::Reader& reader) {
  ObservedCluster cluster;
  // Pods last: each node that one of them names is known then, unless it was deleted.
  ASSIGN_OR_RETURN(const std::vector<Json> namespaces, list_all(reader, kNamespaces));
  for (const Json& each : namespaces) {
    cluster.namespaces[string_at(each, {"metadata", "name"})] = string_map_at(each, {"metadata", "labels"});
  }
  ASSIGN_OR_RETURN(const std::vector<Json> nodes, list_all(reader, kNodes));
  for (const Json& each : nodes) cluster.nodes[string_at(each, {"metadata", "name"})].decode(each);
  ASSIGN_OR_RETURN(const std::vector<Json> pods, list_all(reader, kPods));
  for (const Json& each : pods) cluster.pods.push_back(ObservedPod::decode(each));
  std::ranges::sort(cluster.pods, {}, [](const ObservedPod& pod) {
    return std::make_tuple(-pod.info.priority, pod.created, pod.info.key);
  });
  return cluster;
}

}  // namespace tpuslice::testing
