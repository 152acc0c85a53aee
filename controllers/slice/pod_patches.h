// The writes to pods of a slice, and the event about a pod that waits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controllers/plan/failed_writes.h"
#include "controllers/slice/slice.h"
#include "controllers/slice/slice_state.h"

namespace tpuslice::slice {

// Action::failure_reason of releases, and of deletes.
inline constexpr std::string_view kFailedPlaceSlice = "FailedPlaceSlice";
inline constexpr std::string_view kFailedTearDownSlice = "FailedTearDownSlice";

struct Release {
  std::string topology_key;
  std::string domain;              ///< Empty: no domain is set.
  std::vector<std::string> nodes;  ///< Node of each host, by host index; empty: any node of the domain.
  std::string members;             ///< members_of() the slice.
  Timestamp placed_at;
  std::optional<Timestamp> queued_since = {};  ///< Absent: since its pods were created.
  bool records = false;                        ///< The nodes of all hosts are recorded on this pod.
};

/// Removes the gate and sets domain and node in one write, which fails if the pod has changed. For host 0 this write
/// records that the slice is placed, and where.
///
/// The node is set as required node affinity by name: kube-scheduler then considers that node only.
[[nodiscard]] plan::Action release_pod(const PodView& pod, const Release& release);

/// An empty text removes it. It is written through the status of a pod whose updates are refused: few admission rules
/// include the subresource, and the user should know.
[[nodiscard]] plan::Action set_waiting_reason(const PodView& pod, const WaitingReason& reason,
                                              const plan::FailedWrites* failed,
                                              std::optional<Timestamp> queued_since = {});

/// Event `SliceWaiting` about the pod that has the waiting reason: `kubectl describe pod` cuts its annotations.
[[nodiscard]] plan::EventIntent waiting_event(const PodView& pod, const std::string& reason);

/// An empty value removes it.
[[nodiscard]] plan::Action set_annotation(const PodView& pod, std::string_view name, const std::string& value);

/// Sets the condition DisruptionTarget, so that a podFailurePolicy can ignore the deletion that must follow at once:
/// the condition of a pod that is not deleted is reset after two minutes. Optional: the pod is deleted without it, too.
[[nodiscard]] plan::Action set_disruption_target(const PodView& pod, std::string_view reason,
                                                 const std::string& message, Timestamp now);

[[nodiscard]] plan::Action delete_pod(const PodView& pod);

/// Deletes a terminating pod without waiting for its node, which is lost; with events of its workload.
[[nodiscard]] plan::Action delete_lost_pod(const PodView& pod);

}  // namespace tpuslice::slice
