#include "controllers/leaderworkerset/restarts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/backoff.h"
#include "api/base/strings.h"
#include "controllers/leaderworkerset/labels.h"
#include "tpu/labels.h"

namespace tpuslice::leaderworkerset {
namespace {

/// Why this pod counts as failed; empty if it does not.
std::string pod_failure(const PodView& pod) {
  if (pod.terminating()) return fmt::format("pod {} is being deleted", pod.key.name);
  if (pod.finished()) {
    return fmt::format("pod {} {}{}", pod.key.name, pod.phase == PodPhase::kFailed ? "failed" : "succeeded",
                       pod.reason.empty() ? "" : ": " + pod.reason);
  }
  if (pod.restarted) return fmt::format("a container of pod {} was restarted", pod.key.name);
  return {};
}

/// A pod without the label that admission adds; empty if there is none.
std::string unadmitted_pod(const Group& group) {
  const auto is_unadmitted = [](const PodView& pod) {
    return pod.label(tpu::kLwsWorkerIndex).empty() && !pod.terminating() && !pod.finished();
  };
  if (is_unadmitted(*group.leader)) return group.leader->key.name;
  const auto worker = std::ranges::find_if(group.workers, [&](const PodPtr& pod) { return is_unadmitted(*pod); });
  return worker == group.workers.end() ? std::string() : (*worker)->key.name;
}

bool has_started(const Group& group) {
  const auto started = [](const PodPtr& pod) { return pod->phase != PodPhase::kPending; };
  return static_cast<int>(group.workers.size()) == group.size - 1 && started(group.leader) &&
         std::ranges::all_of(group.workers, started);
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
    records[*group] = {string_at(value, {"leader"}), static_cast<int>(int_at(value, {"count"})), *last};
  }
  return records;
}

std::string format_restarts(const RestartRecords& records, int count) {
  Json json = Json::object();
  for (const auto& [group, record] : records) {
    if (group >= count) continue;
    json[std::to_string(group)] = {
        {"leader", record.leader}, {"count", record.count}, {"last", format_rfc3339(record.last)}};
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
  if (spec.restarts == RestartPolicy::kRecreateGroupAfterStart && !has_started(group)) return {};
  if (std::string cause = pod_failure(*group.leader); !cause.empty()) {
    return GroupFailure{std::move(cause), group.leader->key.name};
  }
  for (const PodPtr& worker : group.workers) {
    if (std::string cause = pod_failure(*worker); !cause.empty())
      return GroupFailure{std::move(cause), worker->key.name};
  }
  if (group.worker_set == nullptr || !group.complete()) return {};
  const std::string& recorded = group.worker_set->annotation(kMembers);
  if (recorded.empty() || recorded == members_hash(group)) return {};
  return GroupFailure{"one of its pods was replaced"};
}

RestartDecision decide_restart(const Group& group, const RestartRecords& records, std::optional<int> limit,
                               Timestamp now, const Options& options) {
  RestartRecord record{group.leader->uid, 0, now};
  if (const auto found = records.find(group.index); found != records.end()) {
    // Already counted; the leader was not deleted yet.
    if (found->second.leader == group.leader->uid) return {RestartDecision::Kind::kRestart, found->second, now};
    const Duration wait =
        exponential_backoff(std::max(found->second.count, 1), options.first_backoff, options.max_backoff);
    const Timestamp last = found->second.last;
    if (now < last + wait + options.reset_after) {
      record.count = found->second.count;
      if (limit && record.count >= *limit) return {RestartDecision::Kind::kExhausted, found->second, now};
      if (now < last + wait) return {RestartDecision::Kind::kBackOff, found->second, last + wait};
    }
  }
  if (limit && *limit <= 0) return {RestartDecision::Kind::kExhausted, record, now};
  ++record.count;
  return {RestartDecision::Kind::kRestart, record, now};
}

}  // namespace tpuslice::leaderworkerset
