#include "controllers/raycluster/adoption.h"

#include <algorithm>
#include <iterator>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {

std::optional<ObjectKey> cluster_of_orphan(const PodView& pod) {
  if (pod.has_owner) return std::nullopt;
  const std::string& cluster = pod.label(kRayCluster);
  const std::string& type = pod.label(kRayNodeType);
  const std::string& group = pod.label(kRayGroup);
  if (cluster.empty()) return std::nullopt;
  if (type == kHeadNode ? group != kHeadGroup : type != kWorkerNode || group.empty()) return std::nullopt;
  return ObjectKey{pod.key.namespace_name, cluster};
}

std::vector<PodPtr> pods_to_adopt(const std::vector<PodPtr>& pods) {
  std::vector<PodPtr> out;
  std::ranges::copy_if(pods, std::back_inserter(out),
                       [](const PodPtr& pod) { return !pod->has_owner && !pod->terminating(); });
  return out;
}

}  // namespace tpuslice::raycluster
