#include "fleet/names.h"

#include <algorithm>
#include <array>

#include "api/base/strings.h"

namespace tpuslice::fleet {
namespace {

/// Kinds whose objects users create, although they may have created the objects that these create, too. A RayJob of a
/// RayCronJob is a run of its own.
constexpr std::array<std::string_view, 6> kOwners = {"RayCluster", "RayJob",          "RayService",
                                                     "JobSet",     "LeaderWorkerSet", "DisaggregatedSet"};
/// More owners than any object has above it.
constexpr std::size_t kMaxDepth = 8;

}  // namespace

Names::Names(const Snapshot& snapshot) {
  for (const Workload& each : snapshot.workloads) {
    workloads_.emplace(Key(each.key.namespace_name, each.kind, each.key.name), &each);
  }
}

std::vector<WorkloadName> Names::all_of(const PodView& pod) const {
  const plan::ObjectReference workload = placement::workload_of(pod);
  std::vector<WorkloadName> names = {{workload.key.namespace_name, workload.kind, workload.key.name}};
  while (names.size() < kMaxDepth) {
    const WorkloadName& last = names.back();
    const auto found = workloads_.find(Key(last.namespace_name, last.kind, last.name));
    if (found == workloads_.end() || !found->second->controller) break;
    const ControllerRef& owner = *found->second->controller;
    if (std::ranges::find(kOwners, std::string_view(owner.kind)) == kOwners.end()) break;
    names.push_back({workload.key.namespace_name, owner.kind.str(), owner.name.str()});
  }
  return names;
}

std::string to_string(const WorkloadName& workload) {
  if (workload.hidden()) return "another namespace";
  return workload.namespace_name + "/" + to_lower(workload.kind) + "/" + workload.name;
}

}  // namespace tpuslice::fleet
