// Renders what is decided about one slice as the plan that does it. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controllers/slice/pod_patches.h"
#include "controllers/slice/slice_plan.h"

namespace tpuslice::slice {

/// Why a placed slice is torn down.
enum class Cause : std::uint8_t { kPodDeleted, kPodLost, kNodeLost, kNotScheduled, kNotReleased };

struct SliceFailure {
  Cause cause = Cause::kPodLost;
  std::string message;
  PodPtr pod = {};        ///< The pod that was lost first; null if that is not known.
  bool lost_host = true;  ///< The pods get tpu::teardown_grace(). False: one of them was deleted on purpose.
};

struct ReleasedPods {
  std::vector<PodPtr> pods;
  Release release;
  bool without_hosts = false;  ///< No host of the slice was created.
};

struct ReasonChange {
  PodPtr pod;
  WaitingReason reason;  ///< Without a text: it is removed.
};

struct NodeReport {
  PodPtr pod;
  std::string text;       ///< tpu::kNodeNotReady; empty: it is removed.
  bool is_first = false;  ///< None is written yet, so it gets an event, too.
};

/// The decisions of plan_slice().
struct SliceDecisions {
  std::vector<PodPtr> lost;             ///< Terminating pods of lost nodes: deleted without a grace period.
  std::vector<PodPtr> preempted;        ///< Deleted, as the rest of a slice that is being preempted.
  std::optional<SliceFailure> failure;  ///< The started pods are deleted.
  std::vector<ReleasedPods> released;
  std::vector<PodPtr> completed;  ///< Get the members of the slice, since all hosts exist.
  std::vector<ReasonChange> reasons;
  std::vector<NodeReport> node_reports;
  std::string removed_hosts;            ///< Is recorded on the first started pod; empty: nothing is recorded.
  bool begins_to_wait = false;          ///< No pod has a reason yet, so the one of `reasons` gets an event, too.
  std::optional<Timestamp> changes_at;  ///< When the decisions may change without a watch event.
};

/// The counters that these plans increment.
extern const std::array<const plan::CounterDefinition*, 1> kCounters;

[[nodiscard]] plan::Plan render_slice(const SliceObserved& seen, const Slice& slice, const SliceDecisions& decisions);

}  // namespace tpuslice::slice
