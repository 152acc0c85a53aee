#include "controllers/jobset/failure_policy.h"

#include <algorithm>
#include <memory>
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

/// A rule with its patterns, which are compiled once.
class CompiledRule {
 public:
  explicit CompiledRule(const FailureRule& rule) : rule_(rule) {
    for (const std::string& pattern : rule.message_patterns) {
      patterns_.push_back(std::make_unique<RE2>(pattern, RE2::Quiet));
    }
  }

  [[nodiscard]] bool matches(const JobSetSpec& spec, const JobView& job) const {
    const JobCondition* failure = failure_condition(spec, job);
    if (failure == nullptr || !contains(rule_.reasons, failure->reason)) return false;
    const std::string replicated_job = replicated_job_of(job);
    if (replicated_job.empty() || !contains(rule_.targets, replicated_job)) return false;
    return patterns_.empty() || std::ranges::any_of(patterns_, [&](const std::unique_ptr<RE2>& pattern) {
             return RE2::PartialMatch(failure->message, *pattern);
           });
  }

 private:
  const FailureRule& rule_;
  std::vector<std::unique_ptr<RE2>> patterns_;
};

/// A failed Job and the first rule that matches it.
struct Match {
  const FailureRule* rule = nullptr;  ///< Null: no rule matches.
  JobPtr job;
  std::optional<Timestamp> since;  ///< When it failed.

  [[nodiscard]] FailureAction action() const { return rule == nullptr ? FailureAction::kRestartJobSet : rule->action; }
};

/// The matches in the order in which they are handled: by rule, those without one last; then by time; then as in
/// `failed`.
std::vector<Match> match_rules(const JobSetSpec& spec, const std::vector<JobPtr>& failed) {
  const std::vector<FailureRule>& rules = spec.failure->rules;
  const std::vector<CompiledRule> compiled(rules.begin(), rules.end());
  std::vector<std::pair<std::size_t, Match>> found;
  found.reserve(failed.size());
  for (const JobPtr& job : failed) {
    const auto rule =
        std::ranges::find_if(compiled, [&](const CompiledRule& each) { return each.matches(spec, *job); });
    const auto index = static_cast<std::size_t>(rule - compiled.begin());
    found.push_back(
        {index, {index == rules.size() ? nullptr : &rules[index], job, failure_condition(spec, *job)->since}});
  }
  std::ranges::stable_sort(found, {}, [](const auto& each) { return std::pair(each.first, each.second.since); });
  std::vector<Match> out;
  out.reserve(found.size());
  for (auto& [index, match] : found) out.push_back(std::move(match));
  return out;
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
  // The action may be that of a single Job: a Job whose labels name no replica cannot restart alone, so the JobSet
  // restarts.
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
    const auto first =
        std::ranges::min_element(failed, {}, [&](const JobPtr& job) { return failure_condition(spec, *job)->since; });
    out.failed = {"FailedJobs", with_first_failed("jobset failed due to one or more job failures", **first)};
    return out;
  }
  std::int64_t counted = status.all_counted_restarts();
  for (const Match& match : match_rules(spec, failed)) {
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
  }
  return out;
}

}  // namespace tpuslice::jobset
