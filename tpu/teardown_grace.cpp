#include "tpu/teardown_grace.h"

#include "api/base/strings.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

/// Reason of the condition DisruptionTarget that the controller of taints sets before it deletes a pod.
constexpr std::string_view kDeletionByTaintManager = "DeletionByTaintManager";

}  // namespace

std::optional<std::int64_t> parse_teardown_grace(std::string_view text) {
  const std::optional<int> seconds = parse_count(text);
  if (!seconds || *seconds <= 0) return std::nullopt;
  return *seconds;
}

std::optional<std::int64_t> teardown_grace(const PodView& pod) {
  if (pod.node_name.empty() || pod.finished() || pod.terminating()) return std::nullopt;
  const std::optional<std::int64_t> seconds = parse_teardown_grace(pod.annotation(kTeardownGrace));
  return seconds && *seconds < pod.grace_seconds ? seconds : std::nullopt;
}

bool is_lost_or_failed(const PodView& pod) {
  return pod.terminating() ? pod.disruption == kDeletionByTaintManager : pod.phase == PodPhase::kFailed;
}

}  // namespace tpuslice::tpu
