// Interruption: a slice lost its nodes before its work was done, as the plan that deletes its pods reports it. It
// becomes a record of the history (controllers/history).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/plan/plan.h"

namespace tpuslice::plan {

struct Interruption {
  Timestamp time;
  ObjectReference workload;
  ObjectKey slice;         ///< Namespace, and value of the label tpuslice.dev/slice.
  std::string slice_name;  ///< Its name within the workload: "v6e-0".
  /// Differs for each placement of the slice, and is the same in all plans that end one: a hash of its pods, or the uid
  /// of its only pod. Empty for a slice that was placed before all its pods existed, and for one of several hosts
  /// without the annotation tpuslice.dev/slice-members.
  std::string placement;
  std::string_view what;          ///< One of the constants below.
  std::string_view code;          ///< The cause in one word: "NodeLost".
  std::string why;                ///< The cause in one sentence.
  std::optional<int> host;        ///< Index of the host that was lost first; absent if that is not known.
  std::string container;          ///< Container of that host that failed; empty if none did.
  std::optional<int> exit_code;   ///< Exit code of that container.
  std::string node;               ///< Node of that host.
  std::string pool;               ///< The domain of the slice.
  std::string accelerator;        ///< Value of the node label, as the pods select it.
  std::int64_t host_seconds = 0;  ///< How long the hosts have run since the placement, all of them together.
};

// Values of Interruption::what.
inline constexpr std::string_view kTornDown = "TornDown";    ///< A host, or its node, was lost or failed.
inline constexpr std::string_view kPreempted = "Preempted";  ///< A slice of higher priority gets the nodes.
inline constexpr std::string_view kRejected = "Rejected";    ///< Not all pods got the nodes of the placement.
inline constexpr std::string_view kRestarted = "Restarted";  ///< A pod was deleted on purpose.

}  // namespace tpuslice::plan
