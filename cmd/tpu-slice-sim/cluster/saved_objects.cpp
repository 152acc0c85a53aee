#include "cmd/tpu-slice-sim/cluster/saved_objects.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/cluster/nodes/kubelet.h"

namespace tpuslice::sim {
namespace {

/// Taints with this prefix follow from the state of a node.
constexpr std::string_view kStateTaints = "node.kubernetes.io/";
constexpr std::array<const char*, 8> kWrittenByServer = {"creationTimestamp",
                                                         "deletionTimestamp",
                                                         "deletionGracePeriodSeconds",
                                                         "generation",
                                                         "managedFields",
                                                         "resourceVersion",
                                                         "selfLink",
                                                         "uid"};
/// Conditions of Jobs and JobSets that have ended. LeaderWorkerSets go on with a condition Failed.
constexpr std::array<const char*, 3> kEnded = {"Complete", "Completed", "Failed"};

bool is_list(const Json& document) { return string_at(document, {"kind"}).ends_with("List"); }

const Json& items_of(const Json& list) { return list.is_array() ? list : array_at(list, {"items"}); }

Json saved_node(const Json& node) {
  Json taints = Json::array();
  for (const Json& taint : array_at(node, {"spec", "taints"})) {
    if (!string_at(taint, {"key"}).starts_with(kStateTaints)) taints.push_back(taint);
  }
  Json spec = Json::object();
  if (!taints.empty()) spec["taints"] = std::move(taints);
  if (bool_at(node, {"spec", "unschedulable"})) spec["unschedulable"] = true;
  Json metadata = {{"name", string_at(node, {"metadata", "name"})},
                   {"labels", object_at(node, {"metadata", "labels"})}};
  if (condition_status(node, "Ready") != "True") {
    metadata["annotations"] = {{std::string(kNodeReadyAnnotation), "false"}};
  }
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)},
          {"status",
           {{"capacity", object_at(node, {"status", "capacity"})},
            {"allocatable", object_at(node, {"status", "allocatable"})},
            {"addresses", array_at(node, {"status", "addresses"})}}}};
}

bool has_ended(const Json& object) {
  const std::string state = string_at(object, {"status", "jobDeploymentStatus"});
  if (state == "Complete" || state == "Failed") return true;
  const std::string kind = string_at(object, {"kind"});
  return (kind == "Job" || kind == "JobSet") &&
         std::ranges::any_of(kEnded, [&](const char* type) { return condition_status(object, type) == "True"; });
}

bool is_controlled(const Json& object) {
  return std::ranges::any_of(array_at(object, {"metadata", "ownerReferences"}),
                             [](const Json& owner) { return bool_at(owner, {"controller"}); });
}

Json without_server_fields(Json object) {
  object.erase("status");
  Json& metadata = object["metadata"];
  for (const char* field : kWrittenByServer) metadata.erase(field);
  return object;
}

}  // namespace

Result<std::vector<Json>> saved_nodes(const Json& list) {
  const Json& items = items_of(list);
  std::vector<Json> nodes;
  nodes.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string kind = string_at(items[i], {"kind"}, "Node");  // Items of a NodeList may have none.
    if (kind != "Node" || string_at(items[i], {"metadata", "name"}).empty()) {
      return Error::invalid_argument("items[{}]: should be a Node", i);
    }
    nodes.push_back(saved_node(items[i]));
  }
  if (nodes.empty()) return Error::invalid_argument("items: should be a list of nodes");
  return nodes;
}

std::vector<Json> saved_manifests(const Json& document) {
  if (!is_list(document)) return {document};
  std::vector<Json> objects;
  std::set<std::string> namespaces;
  for (const Json& item : items_of(document)) {
    if (object_at(item, {"metadata"}).empty() || has_ended(item) || is_controlled(item)) continue;
    if (std::string name = string_at(item, {"metadata", "namespace"}); !name.empty())
      namespaces.insert(std::move(name));
    objects.push_back(without_server_fields(item));
  }
  std::vector<Json> manifests;
  manifests.reserve(namespaces.size() + objects.size());
  for (const std::string& name : namespaces) {
    manifests.push_back({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
  }
  std::ranges::move(objects, std::back_inserter(manifests));
  return manifests;
}

}  // namespace tpuslice::sim
