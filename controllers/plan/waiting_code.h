// WaitingCode: why a slice waits, in one word. It is the reason of the condition tpuslice.dev/SlicesPlaced, the
// annotation tpu::kWaitingReason of a pod, and a label of the metric tpuslice_slices_waiting; the waiting reason says
// it in a sentence.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tpuslice::plan {

enum class WaitingCode : std::uint8_t {
  // New nodes, or the end of other slices, would help.
  kNoMatchingNodes,   ///< No node has the labels that the pods select.
  kNodesNotUsable,    ///< All that match are not Ready, missing, cordoned, tainted or too small.
  kNodesInUse,        ///< Pods use all that match, or they are reserved.
  kQueuedBehind,      ///< Other slices that wait for the same nodes come first.
  kNodesRequested,    ///< The cluster autoscaler has been asked for nodes.
  kChosenNodesInUse,  ///< The nodes that its pods name are not one free domain.
  kGangIncomplete,    ///< Other slices that start together with it do not have all their pods.

  // Pods.
  kHostsMissing,
  kPredecessorExists,  ///< Pods of the slice that it replaces are still there.
  kOtherGate,          ///< A pod is held by the scheduling gate of another controller.
  kDuplicateHost,
  kUngated,        ///< A pod was created without a gate.
  kUpdateRefused,  ///< The API server refuses to change a pod.

  kPlacementRejected,       ///< kube-scheduler rejected its last placements.
  kNotScheduled,            ///< It is placed, and kube-scheduler has no node for a pod.
  kTopologyKeyUnsupported,  ///< Not among --topology-keys.
  kTooManyRequirements,     ///< Its pods, or those of its namespace, have too many different node requirements.
};

/// In the order of WaitingCode.
inline constexpr std::array<std::string_view, 17> kWaitingCodes = {
    "NoMatchingNodes",    "NodesNotUsable",    "NodesInUse",     "QueuedBehind",
    "NodesRequested",     "ChosenNodesInUse",  "GangIncomplete", "HostsMissing",
    "PredecessorExists",  "OtherGate",         "DuplicateHost",  "Ungated",
    "UpdateRefused",      "PlacementRejected", "NotScheduled",   "TopologyKeyUnsupported",
    "TooManyRequirements"};

[[nodiscard]] constexpr std::string_view to_string(WaitingCode code) {
  return kWaitingCodes.at(static_cast<std::size_t>(code));
}

/// Absent for another word: users can change the annotation of their pods.
[[nodiscard]] constexpr std::optional<WaitingCode> parse_waiting_code(std::string_view word) {
  const auto* const found = std::ranges::find(kWaitingCodes, word);
  if (found == kWaitingCodes.end()) return std::nullopt;
  return static_cast<WaitingCode>(found - kWaitingCodes.begin());
}

/// Whether `reason`, of the condition tpuslice.dev/SlicesPlaced, is that nodes are missing or in use.
[[nodiscard]] constexpr bool is_lack_of_nodes(std::string_view reason) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(WaitingCode::kGangIncomplete); ++i) {
    if (kWaitingCodes.at(i) == reason) return true;
  }
  return false;
}

}  // namespace tpuslice::plan
