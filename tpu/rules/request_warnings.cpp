#include <fmt/format.h>

#include "api/types/utf8.h"
#include "tpu/labels.h"
#include "tpu/node_label.h"
#include "tpu/placement.h"
#include "tpu/rules/pod_warnings.h"
#include "tpu/rules/tpu_rules.h"

namespace tpuslice::rules {
namespace {

/// Its chips may come with a resource claim.
bool has_claims(const Json& pod) { return find_set(pod, {"spec", "resourceClaims"}) != nullptr; }

}  // namespace

std::vector<std::string> warn_missing_tpu_requests(const Json& object) {
  std::vector<std::string> warnings;
  for_each_pod(object, [&](const Json& pod, const std::string& path) {
    std::string accelerator = tpu::node_label(pod, tpu::kAcceleratorLabel);
    if (accelerator.empty() || asks_for_tpus(pod) || init_containers_ask_for_tpus(pod) || has_claims(pod) ||
        tpu::tolerates_tpu(pod)) {
      return true;
    }
    warnings.push_back(
        fmt::format("{}spec.nodeSelector[{}]: selects nodes of {}, but no container requests {}: the pods do not "
                    "tolerate their taint",
                    path, tpu::kAcceleratorLabel, clip(std::move(accelerator), kMaxWarnedValue), tpu::kTpuResource));
    return warnings.size() < kMaxPodWarnings;
  });
  return warnings;
}

}  // namespace tpuslice::rules
