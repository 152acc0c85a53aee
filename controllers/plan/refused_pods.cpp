#include "controllers/plan/refused_pods.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/plan/waiting_conditions.h"

namespace tpuslice::plan {
namespace {

constexpr Duration kAskInterval = std::chrono::minutes(1);

/// What the controllers put before the server's error.
constexpr std::array<std::string_view, 2> kPrefixes = {"Error creating: ", " failed error: "};

/// The server's error in the message of an event.
std::string_view error_in(std::string_view message) {
  for (const std::string_view prefix : kPrefixes) {
    const std::size_t found = message.find(prefix);
    if (found != std::string_view::npos) return message.substr(found + prefix.size());
  }
  return message;
}

bool is_in_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

/// Names of pods as "serve-*": those of a Job are other ones with each attempt, which would be a write of the status.
std::string without_pod_names(std::string_view text, std::string_view owner) {
  const std::string prefix = fmt::format("{}-", owner);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || !is_in_name(text[at - 1]);
    if (!begins || !text.substr(at).starts_with(prefix)) {
      out += text[at++];
      continue;
    }
    out += prefix + "*";
    at += prefix.size();
    while (at < text.size() && is_in_name(text[at])) ++at;
  }
  return out;
}

WorkloadRequest last_event_about(const LackingPods& owner) {
  WorkloadRequest out;
  out.name = "refused-pods";
  out.events = EventQuery{owner.uid, "FailedCreate"};
  out.interval = kAskInterval;
  return out;
}

}  // namespace

std::string explain_lacking_pods(const LackingPods& owner, const Json& conditions, const WorkloadAnswers& answers,
                                 Timestamp now, Changes& changes) {
  const Json* const placed = find_condition(conditions, kSlicesPlaced);
  if (placed == nullptr || string_at(*placed, {"status"}) != "False") return {};
  const auto since = parse_rfc3339(string_at(*placed, {"lastTransitionTime"}));
  if (!since) return {};
  if (const Timestamp due = std::max(*since, owner.since) + kMissingPodsDelay; now < due) {
    changes.requeue_within(due - now);
    return {};
  }
  const WorkloadRequest request = last_event_about(owner);
  changes.requests.push_back(request);
  const WorkloadAnswer* const answer = answers.to(request);
  if (answer == nullptr || !answer->ok()) {
    const bool known = string_at(*placed, {"reason"}) == kPodsRefused;
    return known ? string_at(*placed, {"message"}) : std::string();
  }
  const auto refused = parse_rfc3339(string_at(answer->content, {"time"}));
  if (!refused || *refused < owner.since || now >= *refused + kRefusalAge) return {};
  changes.requeue_within(*refused + kRefusalAge - now);
  return fmt::format("{} {} lacks pods: {}", owner.kind, owner.name,
                     without_pod_names(error_in(string_at(answer->content, {"message"})), owner.name));
}

}  // namespace tpuslice::plan
