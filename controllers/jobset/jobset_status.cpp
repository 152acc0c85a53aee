#include "controllers/jobset/jobset_status.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>

#include "api/types/conditions.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/plan/plan.h"

namespace tpuslice::jobset {
namespace {

constexpr int kMaxCount = std::numeric_limits<std::int32_t>::max();

/// The count at a path. Others can write the status, so that a number may be negative or too large.
int count_at(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* const found = find_path(json, path);
  if (found == nullptr || !found->is_number_integer()) return 0;
  if (found->is_number_unsigned()) {
    return static_cast<int>(std::min<std::uint64_t>(found->get<std::uint64_t>(), kMaxCount));
  }
  return static_cast<int>(std::clamp<std::int64_t>(found->get<std::int64_t>(), 0, kMaxCount));
}

std::vector<int> counts_at(const Json& json, std::string_view member) {
  std::vector<int> out;
  for (const Json& item : array_at(json, {member})) out.push_back(count_at(item, {}));
  return out;
}

Json to_json(const std::string& name, const ReplicatedJobStatus& job) {
  Json out = {{"name", name},         {"ready", job.ready},   {"succeeded", job.succeeded},
              {"failed", job.failed}, {"active", job.active}, {"suspended", job.suspended}};
  if (!job.restarts.empty()) out["jobRestarts"] = job.restarts;
  if (!job.counted_restarts.empty()) out["jobRestartsCountTowardsMax"] = job.counted_restarts;
  return out;
}

}  // namespace

void add_one(int& count) {
  if (count < kMaxCount) ++count;
}

JobSetStatus JobSetStatus::read(const Object& jobset) {
  const Json json = plan::status_of(jobset);
  JobSetStatus status;
  status.restarts = count_at(json, {"restarts"});
  status.counted_restarts = count_at(json, {"restartsCountTowardsMax"});
  if (const Json* attempts = find_set(json, {"executionAttempts"});
      attempts != nullptr && attempts->is_number_integer())
    status.execution_attempts = count_at(*attempts, {});
  status.terminal_state = string_at(json, {"terminalState"});
  status.started = parse_rfc3339(string_at(json, {"startTime"}));
  for (const Json& job : array_at(json, {"replicatedJobsStatus"})) {
    ReplicatedJobStatus& read = status.jobs[string_at(job, {"name"})];
    read.restarts = counts_at(job, "jobRestarts");
    read.counted_restarts = counts_at(job, "jobRestartsCountTowardsMax");
    read.ready = count_at(job, {"ready"});
    read.succeeded = count_at(job, {"succeeded"});
    read.failed = count_at(job, {"failed"});
    read.active = count_at(job, {"active"});
    read.suspended = count_at(job, {"suspended"});
  }
  status.conditions = array_at(json, {"conditions"});
  return status;
}

Json JobSetStatus::to_json(const Json& before, const JobSetSpec& spec) const {
  Json out = before.is_object() ? before : Json::object();
  out["restarts"] = restarts;
  if (counted_restarts > 0) out["restartsCountTowardsMax"] = counted_restarts;
  if (execution_attempts) out["executionAttempts"] = *execution_attempts;
  if (!terminal_state.empty()) out["terminalState"] = terminal_state;
  if (started) {
    out["startTime"] = format_rfc3339(*started);
  } else {
    out.erase("startTime");
  }
  // The order is upstream's: descending by name.
  Json list = Json::array();
  for (const auto& [name, status] : std::ranges::reverse_view(jobs)) {
    if (spec.find(name) != nullptr) list.push_back(jobset::to_json(name, status));
  }
  if (!list.empty() || out.contains("replicatedJobsStatus")) out["replicatedJobsStatus"] = std::move(list);
  if (!conditions.empty() || out.contains("conditions")) out["conditions"] = conditions;
  return out;
}

bool JobSetStatus::finished() const {
  return is_condition_true(conditions, kCompleted) || is_condition_true(conditions, kFailed);
}

int JobSetStatus::restarts_of(std::string_view job, int index) const {
  const auto found = jobs.find(job);
  if (found == jobs.end() || index < 0 || static_cast<std::size_t>(index) >= found->second.restarts.size()) return 0;
  return found->second.restarts[static_cast<std::size_t>(index)];
}

std::int64_t JobSetStatus::all_counted_restarts() const {
  std::int64_t total = counted_restarts;
  for (const auto& [name, job] : jobs) {
    total = std::accumulate(job.counted_restarts.begin(), job.counted_restarts.end(), total);
  }
  return total;
}

void JobSetStatus::count_restart(const std::string& job, int index, int replicas, bool counted) {
  ReplicatedJobStatus& status = jobs[job];
  const auto place = static_cast<std::size_t>(index);
  const std::size_t size = std::max(static_cast<std::size_t>(replicas), place + 1);
  status.restarts.resize(std::max(status.restarts.size(), size));
  add_one(status.restarts[place]);
  // Upstream leaves it out until a restart of a job counts.
  if (!counted) return;
  status.counted_restarts.resize(std::max(status.counted_restarts.size(), size));
  add_one(status.counted_restarts[place]);
}

}  // namespace tpuslice::jobset
