// Changes: what the policies of a JobSet add, one after the other, to its plan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controllers/jobset/spec.h"
#include "controllers/jobset/status.h"
#include "controllers/runtime/plan.h"

namespace tpuslice::jobset {

/// What holds Jobs back.
struct Wait {
  std::string reason;  ///< "DependsOn"
  std::string message;
};

struct Changes {
  Changes(const JobSetSpec& of, JobSetStatus before, Timestamp when) : spec(of), now(when), status(std::move(before)) {}

  const JobSetSpec& spec;
  const Timestamp now;

  JobSetStatus status;
  std::vector<runtime::Action> deletes;    ///< Also what comes before a delete.
  std::vector<runtime::Action> resources;  ///< Service and volume claims.
  std::vector<runtime::Action> resets;     ///< Of Jobs' statuses, before they can be resumed.
  std::vector<runtime::Action> jobs;       ///< Creates and patches.
  std::vector<runtime::EventIntent> events;
  std::vector<runtime::Measurement> measurements;
  std::vector<std::string> reasons;  ///< One sentence each.
  std::vector<Wait> waits;
  std::optional<Duration> requeue_after;

  void look_again_in(Duration time);
  /// Sets the condition; if its status, reason or message is new, an event says so, as upstream. A condition that is
  /// False is not added.
  void set_condition(std::string_view type, bool value, std::string_view reason, const std::string& message,
                     runtime::EventType event = runtime::EventType::kNormal);
  /// A condition that was True is so no longer; its reason and message stay, and no event tells.
  void end_condition(std::string_view type);
  void event(runtime::EventType type, std::string_view reason, std::string message,
             std::optional<ObjectKey> after = {});
  /// An action of ours, for the metrics.
  void count(std::string name, std::string help, std::map<std::string, std::string> labels);
};

/// "a, b, c"; beyond `limit` elements "a, b and 7 more".
[[nodiscard]] std::string join_names(const std::vector<std::string>& names, std::size_t limit = 4);

}  // namespace tpuslice::jobset
