#include <array>

#include "controllers/raycluster/rules/validator_parts.h"

namespace tpuslice::rules {
namespace {

/// A label by which KubeRay hands a cluster to a batch scheduler.
struct SchedulerLabel {
  std::string_view name;
  std::string_view instead;  ///< What has that effect here.
};

constexpr std::string_view kQueues = "use Kueue, with the label kueue.x-k8s.io/queue-name";

constexpr std::array kSchedulerLabels{
    SchedulerLabel{"ray.io/gang-scheduling-enabled",
                   "the pods of a slice start together; for several slices set the annotations tpuslice.dev/gang and "
                   "tpuslice.dev/slices-together in their pod templates"},
    SchedulerLabel{"ray.io/priority-class-name", "set priorityClassName in the pod templates"},
    SchedulerLabel{"ray.io/scheduler-name", "set schedulerName in the pod templates"},
    SchedulerLabel{"volcano.sh/queue-name", kQueues},
    SchedulerLabel{"yunikorn.apache.org/queue", kQueues},
    SchedulerLabel{"yunikorn.apache.org/app-id", "set the label and schedulerName in the pod templates"},
    SchedulerLabel{"kai.scheduler/queue", kQueues},
};

}  // namespace

std::vector<std::string> warn_batch_scheduling(const ClusterView& cluster) {
  std::vector<std::string> out;
  for (const SchedulerLabel& label : kSchedulerLabels) {
    if (find_set(cluster.json, {"metadata", "labels", label.name}) == nullptr) continue;
    out.push_back(fmt::format("metadata.labels[{}]: has no effect: {}", label.name, label.instead));
  }
  return out;
}

}  // namespace tpuslice::rules
