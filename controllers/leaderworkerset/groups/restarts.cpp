#include "controllers/leaderworkerset/groups/restarts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/backoff.h"
#include "api/base/strings.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tpu/labels.h"
#include "tpu/teardown_grace.h"

namespace tpuslice::leaderworkerset {
namespace {

/// Why this pod counts as failed; empty if it does not.
std::string pod_failure(const PodView& pod) {
  if (pod.terminating()) return fmt::format("pod {} is being deleted", pod.key.name);
  if (pod.finished()) {
    return fmt::format("pod {} {}{}", pod.key.name, pod.phase == PodPhase::kFailed ? "failed" : "succeeded",
                       pod.cause().empty() ? "" : ": " + pod.cause());
  }
  if (pod.restarted) {
    return fmt::format("a container of pod {} was restarted{}", pod.key.name,
                       pod.failure.empty() ? "" : ": " + pod.failure);
  }
  return {};
}

bool has_lost_host(const Group& group) {
  const auto is_lost = [](const PodPtr& pod) {
    return tpu::is_lost_or_failed(*pod) || (!pod->terminating() && !pod_failure(*pod).empty());
  };
  return is_lost(group.leader) || std::ranges::any_of(group.workers, is_lost);
}

// Labels that only admission adds: the template of a leader set has the worker index, that of a worker set the key of
// its group.
constexpr std::string_view kLabelOfAdmittedLeader = kLwsGroupKey;
constexpr std::string_view kLabelOfAdmittedWorker = kLwsWorkerIndex;

/// A pod without the label that admission adds; empty if there is none.
std::string unadmitted_pod(const Group& group) {
  const auto is_unadmitted = [](const PodView& pod, std::string_view label) {
    return pod.label(label).empty() && !pod.terminating() && !pod.finished();
  };
  if (is_unadmitted(*group.leader, kLabelOfAdmittedLeader)) return group.leader->key.name;
  const auto worker = std::ranges::find_if(
      group.workers, [&](const PodPtr& pod) { return is_unadmitted(*pod, kLabelOfAdmittedWorker); });
  return worker == group.workers.end() ? std::string() : (*worker)->key.name;
}

Duration backoff_of(const RestartRecord& record, const Options& options) {
  return exponential_backoff(std::max(record.count, 1), options.first_backoff, options.max_backoff);
}

/// A group that fails later has run for Options::reset_after, so its restarts are counted from 0 again.
Timestamp reset_time(const RestartRecord& record, const Options& options) {
  return record.last + backoff_of(record, options) + options.reset_after;
}

bool asks_to_recover(const PodView& leader) { return leader.annotation(kRecover) == "true"; }

/// For a group that has no restart left. An annotation that the leader was created with, from its template, restarts
/// nothing: there would be no limit.
RestartDecision when_exhausted(RestartRecord before, const PodView& leader, Timestamp now) {
  using enum RestartDecision::Kind;
  if (before.exhausted != leader.uid) {
    before.exhausted = leader.uid;
    before.had_recover = asks_to_recover(leader);
  } else if (asks_to_recover(leader) && !before.had_recover) {
    return {kRestart, {leader.uid, 0, now}, now};
  }
  return {kExhausted, before, now};
}

}  // namespace

RestartRecords read_restarts(const std::string& annotation) {
  RestartRecords records;
  const Result<Json> json = parse_json(annotation);
  if (!json || !json->is_object()) return records;
  for (const auto& [key, value] : json->items()) {
    const std::optional<int> group = parse_count(key);
    const std::optional<Timestamp> last = parse_rfc3339(string_at(value, {"last"}));
    if (!group || !last) continue;
    records[*group] = {string_at(value, {"leader"}), static_cast<int>(int_at(value, {"count"})), *last,
                       string_at(value, {"exhausted"}), bool_at(value, {"hadRecover"})};
  }
  return records;
}

std::string format_restarts(const RestartRecords& records, int count, Timestamp now, const Options& options) {
  std::vector<const RestartRecords::value_type*> kept;
  for (const auto& each : records) {
    const auto& [group, record] = each;
    if (group < count && (!record.exhausted.empty() || now < reset_time(record, options))) kept.push_back(&each);
  }
  if (kept.size() > kMaxRestartRecords) {
    // A group whose record is dropped counts its restarts from 0.
    std::ranges::sort(kept, std::ranges::greater(),
                      [](const auto* each) { return std::pair(!each->second.exhausted.empty(), each->second.last); });
    kept.resize(kMaxRestartRecords);
  }
  Json json = Json::object();
  for (const auto* each : kept) {
    const auto& [group, record] = *each;
    Json& entry = json[std::to_string(group)];
    entry = {{"leader", record.leader}, {"count", record.count}, {"last", format_rfc3339(record.last)}};
    if (!record.exhausted.empty()) entry["exhausted"] = record.exhausted;
    if (record.had_recover) entry["hadRecover"] = true;
  }
  return json.empty() ? std::string() : json.dump();
}

std::optional<GroupFailure> failure_of(const LeaderWorkerSetSpec& spec, const Group& group, const Options& options) {
  if (group.leader == nullptr || group.leader->terminating()) return {};
  if (options.has_webhook) {
    if (const std::string name = unadmitted_pod(group); !name.empty()) {
      return GroupFailure{
          fmt::format("pod {} was created while the webhook was unavailable and lacks its LWS_* environment", name)};
    }
  }
  if (spec.restarts == RestartPolicy::kNone) return {};
  if (spec.restarts == RestartPolicy::kRecreateGroupAfterStart && !group.started()) return {};
  if (std::string cause = pod_failure(*group.leader); !cause.empty()) {
    return GroupFailure{std::move(cause), group.leader->key.name, has_lost_host(group)};
  }
  for (const PodPtr& worker : group.workers) {
    if (std::string cause = pod_failure(*worker); !cause.empty())
      return GroupFailure{std::move(cause), worker->key.name, has_lost_host(group)};
  }
  if (group.worker_set == nullptr || !group.complete()) return {};
  const std::string& recorded = group.worker_set->annotation(kMembers);
  if (recorded.empty() || recorded == members_hash(group)) return {};
  return GroupFailure{"one of its pods was replaced"};
}

RestartDecision decide_restart(const Group& group, const RestartRecords& records, std::optional<int> limit,
                               Timestamp now, const Options& options) {
  using enum RestartDecision::Kind;
  const std::string& leader = group.leader->uid;
  RestartRecord record{leader, 0, now};
  if (const auto found = records.find(group.index); found != records.end()) {
    RestartRecord before = found->second;
    if (before.leader == leader) {  // Already counted; the leader was not deleted yet.
      // The record must not expire while the API server refuses the delete.
      if (now >= reset_time(before, options)) before.last = now;
      return {kRestart, before, now};
    }
    if (before.exhausted == leader || now < reset_time(before, options)) {
      if (limit && before.count >= *limit) return when_exhausted(before, *group.leader, now);
      const Timestamp due = before.last + backoff_of(before, options);
      if (now < due) return {kBackOff, before, due};
      record.count = before.count;
    }
  }
  if (limit && *limit <= 0) return when_exhausted({{}, 0, now}, *group.leader, now);
  ++record.count;
  return {kRestart, record, now};
}

}  // namespace tpuslice::leaderworkerset
