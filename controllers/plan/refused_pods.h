// Why the API server refuses the pods of a Job or StatefulSet. Their status does not say it: its controller records an
// event and tries again. Pure.
#pragma once

#include <string>
#include <string_view>

#include "controllers/plan/changes.h"
#include "controllers/plan/workload_request.h"

namespace tpuslice::plan {

/// A Job or StatefulSet that lacks pods.
struct LackingPods {
  std::string_view kind;  ///< "Job"
  std::string name;
  std::string uid;
  Timestamp since = {};  ///< Its controller has created pods since then, if that is known: a Job is resumed.
};

/// Reason of kSlicesPlaced and of an event.
inline constexpr std::string_view kPodsRefused = "PodsRefused";
/// The events are asked for once pods have been missing for this long.
inline constexpr Duration kMissingPodsDelay = std::chrono::seconds(10);
/// Older refusals do not count. The controllers try again after 17 minutes at the latest.
inline constexpr Duration kRefusalAge = std::chrono::minutes(20);

/// "StatefulSet serve lacks pods: pods "serve-*" is forbidden: exceeded quota: ..."; empty if no refusal is known.
///
/// Once kSlicesPlaced, which is in `conditions`, has been False for kMissingPodsDelay, the plan asks for the last event
/// about it. Nothing is asked, and no event is watched, while all pods exist. While there is no answer, the text that
/// is in `conditions` stays.
[[nodiscard]] std::string explain_lacking_pods(const LackingPods& owner, const Json& conditions,
                                               const WorkloadAnswers& answers, Timestamp now, Changes& changes);

}  // namespace tpuslice::plan
