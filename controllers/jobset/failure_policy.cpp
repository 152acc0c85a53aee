#include "controllers/jobset/failure_policy.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "controllers/jobset/labels.h"

namespace tpuslice::jobset {
namespace {

using runtime::EventType;

std::string_view name_of(FailureAction action) {
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

bool counts(FailureAction action) {
  return action == FailureAction::kRestartJobSet || action == FailureAction::kRestartJob;
}

std::string with_first_failed(std::string_view message, const JobView& job) {
  return fmt::format("{} (first failed job: {})", message, job.key.name);
}

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return list.empty() || std::ranges::find(list, text) != list.end();
}

bool matches(const FailureRule& rule, const JobSetSpec& spec, const JobView& job) {
  const JobCondition* failure = failure_of(spec, job);
  if (failure == nullptr || !contains(rule.reasons, failure->reason)) return false;
  const std::string replicated_job = replicated_job_of(job);
  if (replicated_job.empty() || !contains(rule.targets, replicated_job)) return false;
  return rule.message_patterns.empty() || std::ranges::any_of(rule.message_patterns, [&](const std::string& pattern) {
           return RE2::PartialMatch(failure->message, RE2(pattern, RE2::Quiet));
         });
}

/// The one that failed first, of those `eligible`; ties go to the first by name.
template <typename Predicate>
JobPtr first_failed(const JobSetSpec& spec, const std::vector<JobPtr>& failed, const Predicate& eligible) {
  JobPtr first;
  for (const JobPtr& job : failed) {
    if (!eligible(*job)) continue;
    if (first == nullptr || failure_of(spec, *job)->since < failure_of(spec, *first)->since) first = job;
  }
  return first;
}

struct Match {
  const FailureRule* rule = nullptr;  ///< Null: none matches.
  JobPtr job;
};

Match find_match(const JobSetSpec& spec, const std::vector<JobPtr>& failed) {
  for (const FailureRule& rule : spec.failure->rules) {
    JobPtr job = first_failed(spec, failed, [&](const JobView& each) { return matches(rule, spec, each); });
    if (job != nullptr) return {&rule, std::move(job)};
  }
  return {nullptr, first_failed(spec, failed, [](const JobView&) { return true; })};
}

void fail(std::string_view reason, std::string_view message, const JobView& job, Changes& changes) {
  const std::string text = with_first_failed(message, job);
  changes.set_condition(kFailed, true, reason, text, EventType::kWarning);
  changes.set_condition(kRestarting, false, "JobSetFailed", "jobset failed");
  changes.status.terminal_state = kFailed;
  changes.reasons.push_back(text);
  changes.count("tpuslice_jobsets_finished_total", "JobSets that have ended.", {{"result", "Failed"}});
}

void announce(FailureAction action, const std::string& text, Changes& changes) {
  changes.event(EventType::kWarning, fmt::format("{}FailurePolicyAction", name_of(action)), text);
  changes.reasons.push_back(text);
  changes.count("tpuslice_jobset_restarts_total", "Restarts of JobSets and of single Jobs of them.",
                {{"action", std::string(name_of(action))}});
}

void restart_all(FailureAction action, const Match& match, Changes& changes) {
  ++changes.status.restarts;
  if (counts(action)) ++changes.status.counted_restarts;
  const std::string text =
      with_first_failed(fmt::format("applying {} failure policy action", name_of(action)), *match.job);
  const std::string reason =
      match.rule == nullptr ? "DefaultFailurePolicy" : fmt::format("FailurePolicy_{}", match.rule->name);
  changes.set_condition(kRestarting, true, reason, text, EventType::kWarning);
  announce(action, text, changes);
}

/// False, and nothing done, for a Job that has lost the labels that number it, or has others: whoever edits the labels
/// of a Job does not say how many numbers the status has.
bool restart_one(FailureAction action, const JobView& job, Changes& changes) {
  const ReplicatedJob* of = changes.spec.find(replicated_job_of(job));
  const std::optional<int> index = index_of(job);
  if (of == nullptr || !index || *index >= of->replicas) return false;
  changes.status.count_restart(of->name, *index, of->replicas, counts(action));
  announce(action, with_first_failed(fmt::format("applying {} failure policy action", name_of(action)), job), changes);
  return true;
}

/// True if other failed Jobs have still to be looked at.
bool act(const Match& match, Changes& changes) {
  const FailureAction action = match.rule == nullptr ? FailureAction::kRestartJobSet : match.rule->action;
  if (action == FailureAction::kFailJobSet) {
    fail("FailJobSetFailurePolicyAction", "applying FailJobSet failure policy action", *match.job, changes);
    return false;
  }
  if (counts(action) && changes.status.all_counted_restarts() >= changes.spec.failure->max_restarts) {
    fail("ReachedMaxRestarts", "jobset failed due to reaching max number of restarts", *match.job, changes);
    return false;
  }
  const bool single = action == FailureAction::kRestartJob || action == FailureAction::kRestartJobAndIgnoreMaxRestarts;
  if (single && restart_one(action, *match.job, changes)) return true;
  restart_all(action, match, changes);
  return false;
}

}  // namespace

void apply_failure_policy(const std::vector<JobPtr>& failed, Changes& changes) {
  std::vector<JobPtr> left = failed;
  if (!changes.spec.failure) {
    const JobPtr first = first_failed(changes.spec, left, [](const JobView&) { return true; });
    return fail("FailedJobs", "jobset failed due to one or more job failures", *first, changes);
  }
  while (!left.empty()) {
    const Match match = find_match(changes.spec, left);
    if (!act(match, changes)) return;
    std::erase(left, match.job);
  }
}

}  // namespace tpuslice::jobset
