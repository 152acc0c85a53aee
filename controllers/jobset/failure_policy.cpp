#include "controllers/jobset/failure_policy.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

namespace tpuslice::jobset {
namespace {

std::string with_first_failed(std::string_view message, const JobView& job) {
  return fmt::format("{} (first failed job: {})", message, job.key.name);
}

std::string action_message(FailureAction action, const JobView& job) {
  return with_first_failed(fmt::format("applying {} failure policy action", to_string(action)), job);
}

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return list.empty() || std::ranges::find(list, text) != list.end();
}

bool matches(const FailureRule& rule, const JobSetSpec& spec, const JobView& job) {
  const JobCondition* failure = failure_condition(spec, job);
  if (failure == nullptr || !contains(rule.reasons, failure->reason)) return false;
  const std::string replicated_job = replicated_job_of(job);
  if (replicated_job.empty() || !contains(rule.targets, replicated_job)) return false;
  return rule.message_patterns.empty() || std::ranges::any_of(rule.message_patterns, [&](const std::string& pattern) {
           return RE2::PartialMatch(failure->message, RE2(pattern, RE2::Quiet));
         });
}

/// The eligible Job that failed first; the first by name if several did.
template <typename Predicate>
JobPtr first_failed(const JobSetSpec& spec, const std::vector<JobPtr>& failed, const Predicate& eligible) {
  JobPtr first;
  for (const JobPtr& job : failed) {
    if (!eligible(*job)) continue;
    if (first == nullptr || failure_condition(spec, *job)->since < failure_condition(spec, *first)->since) first = job;
  }
  return first;
}

struct Match {
  const FailureRule* rule = nullptr;  ///< Null: no rule matches.
  JobPtr job;

  [[nodiscard]] FailureAction action() const { return rule == nullptr ? FailureAction::kRestartJobSet : rule->action; }
};

Match find_match(const JobSetSpec& spec, const std::vector<JobPtr>& failed) {
  for (const FailureRule& rule : spec.failure->rules) {
    JobPtr job = first_failed(spec, failed, [&](const JobView& each) { return matches(rule, spec, each); });
    if (job != nullptr) return {&rule, std::move(job)};
  }
  return {nullptr, first_failed(spec, failed, [](const JobView&) { return true; })};
}

/// Nothing for a Job whose labels name no replica of the spec: a user may have edited them, and the status must not
/// grow with the index.
std::optional<FailureDecision::JobRestart> restart_job(const JobSetSpec& spec, const Match& match) {
  const ReplicatedJob* replicated_job = spec.find(replicated_job_of(*match.job));
  const std::optional<int> index = index_of(*match.job);
  if (replicated_job == nullptr || !index || *index >= replicated_job->replicas) return std::nullopt;
  return FailureDecision::JobRestart{replicated_job, *index, match.action(),
                                     action_message(match.action(), *match.job)};
}

FailureDecision::Restart restart_jobset(const Match& match) {
  // A single Job whose labels name no replica restarts the JobSet by the same action.
  return {match.action(),
          match.rule == nullptr ? "DefaultFailurePolicy" : fmt::format("FailurePolicy_{}", match.rule->name),
          action_message(match.action(), *match.job)};
}

}  // namespace

std::string_view to_string(FailureAction action) {
  switch (action) {
    case FailureAction::kFailJobSet:
      return "FailJobSet";
    case FailureAction::kRestartJobSet:
      return "RestartJobSet";
    case FailureAction::kRestartJobSetAndIgnoreMaxRestarts:
      return "RestartJobSetAndIgnoreMaxRestarts";
    case FailureAction::kRestartJob:
      return "RestartJob";
    case FailureAction::kRestartJobAndIgnoreMaxRestarts:
      return "RestartJobAndIgnoreMaxRestarts";
  }
  return "";
}

bool counts_towards_max(FailureAction action) {
  return action == FailureAction::kRestartJobSet || action == FailureAction::kRestartJob;
}

FailureDecision apply_failure_policy(const JobSetSpec& spec, const JobSetStatus& status,
                                     const std::vector<JobPtr>& failed) {
  FailureDecision out;
  if (!spec.failure) {
    const JobPtr first = first_failed(spec, failed, [](const JobView&) { return true; });
    out.failed = {"FailedJobs", with_first_failed("jobset failed due to one or more job failures", *first)};
    return out;
  }
  std::vector<JobPtr> rest = failed;
  int counted = status.all_counted_restarts();
  while (!rest.empty()) {
    const Match match = find_match(spec, rest);
    const FailureAction action = match.action();
    if (action == FailureAction::kFailJobSet) {
      out.failed = {"FailJobSetFailurePolicyAction",
                    with_first_failed("applying FailJobSet failure policy action", *match.job)};
      return out;
    }
    if (counts_towards_max(action) && counted >= spec.failure->max_restarts) {
      out.failed = {"ReachedMaxRestarts",
                    with_first_failed("jobset failed due to reaching max number of restarts", *match.job)};
      return out;
    }
    if (counts_towards_max(action)) ++counted;
    const bool single =
        action == FailureAction::kRestartJob || action == FailureAction::kRestartJobAndIgnoreMaxRestarts;
    std::optional<FailureDecision::JobRestart> restart = single ? restart_job(spec, match) : std::nullopt;
    if (!restart) {
      out.restart = restart_jobset(match);
      return out;
    }
    out.job_restarts.push_back(*std::move(restart));
    std::erase(rest, match.job);
  }
  return out;
}

}  // namespace tpuslice::jobset
