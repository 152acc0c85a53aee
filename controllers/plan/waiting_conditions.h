// The conditions of a workload that say whether its slices have nodes and its containers run, and what they wait for.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/conditions.h"
#include "api/types/views.h"

namespace tpuslice::plan {

/// Ours: True once every pod that the spec asks for exists and none of its slices waits for nodes. A workload without
/// slices has it as well: True once its pods exist.
///
/// Reasons: SlicesPlaced; PodsPending, PodsRefused, Suspended, Finished, NotAccepted, or the WaitingCode of the first
/// slice that waits (SlicesWaiting, if its pod has none).
inline constexpr std::string_view kSlicesPlaced = "tpuslice.dev/SlicesPlaced";
/// Ours: True once the containers of all those pods have started. False as well while the kubelet cannot start one: its
/// image, its program or something that it refers to is missing, or it exits as soon as it starts. Until it is True, it
/// also names pods that have failed; so does its message when the workload has finished.
///
/// Reasons: ContainersStarted; ContainersPending, ContainersStuck, Suspended, Finished, NotAccepted.
inline constexpr std::string_view kContainersStarted = "tpuslice.dev/ContainersStarted";
inline constexpr std::string_view kContainersStuck = "ContainersStuck";

/// What the conditions depend on, besides the pods that wait.
struct PodProgress {
  enum class Phase : std::uint8_t {
    kActive,
    kSuspended,
    kFinished,  ///< A condition that is True stays so.
    kRefused,   ///< The spec is refused: existing conditions stay as they are, missing ones become False.
  };
  Phase phase = Phase::kActive;
  bool all_created = false;  ///< Every pod that the spec asks for exists, or has succeeded.
  /// Why the API server refuses the pods that do not exist (refused_pods.h); empty if that is not known.
  std::string refused = {};
  bool all_started = false;  ///< All of these have started, or are Ready. Not read again once the condition is True.
};

/// Sets both conditions. `pods` are those for which is_waiting() is true; others are ignored. The message names the
/// first few slices and pods with their reasons: the waiting reason that the slice controllers wrote (annotation
/// tpu::kWaiting), and what the kubelet reports about containers (PodView::stuck, PodView::failure).
void update_waiting_conditions(const std::vector<std::shared_ptr<const PodView>>& pods, const PodProgress& progress,
                               std::int64_t generation, Timestamp now, Json& conditions);

/// For a workload that has kSlicesPlaced of its child, `problem`: whether slices begin to wait, or wait for something
/// else than `conditions` say. The workload then gets an event kSliceWaiting.
[[nodiscard]] bool begins_to_wait(const Json& conditions, const Problem& problem);
inline constexpr std::string_view kSliceWaiting = "SliceWaiting";

/// Whether a condition depends on the pod: its slice is not placed or has no node, it has a waiting reason, a
/// container cannot start, or it has failed with one.
[[nodiscard]] bool is_waiting(const PodView& pod);

}  // namespace tpuslice::plan
