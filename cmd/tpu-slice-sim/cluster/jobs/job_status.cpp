#include "cmd/tpu-slice-sim/cluster/jobs/job_status.h"

namespace tpuslice::sim {

const Json* true_condition(const Json& job, std::string_view type) {
  for (const Json& entry : array_at(job, {"status", "conditions"})) {
    if (string_at(entry, {"type"}) == type && string_at(entry, {"status"}) == "True") return &entry;
  }
  return nullptr;
}

std::optional<JobResult> interim_result(const Json& job) {
  for (const bool success : {true, false}) {
    JobResult verdict{.success = success, .reason = {}, .message = {}};
    const Json* found = true_condition(job, verdict.interim());
    if (found == nullptr) continue;
    verdict.reason = string_at(*found, {"reason"});
    verdict.message = string_at(*found, {"message"});
    return verdict;
  }
  return std::nullopt;
}

bool job_finished(const Json& job) { return job_finished_at(job).has_value(); }

std::optional<Timestamp> job_finished_at(const Json& job) {
  for (const char* type : {"Complete", "Failed"}) {
    if (const Json* found = true_condition(job, type)) {
      return parse_rfc3339(string_at(*found, {"lastTransitionTime"})).value_or(Timestamp{});
    }
  }
  return std::nullopt;
}

bool set_job_condition(Json& status, std::string_view type, std::string_view value, const std::string& reason,
                       const std::string& message, Timestamp now) {
  const std::string time = format_rfc3339(now);
  const Json wanted = {{"type", type},       {"status", value},       {"reason", reason},
                       {"message", message}, {"lastProbeTime", time}, {"lastTransitionTime", time}};
  Json& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  for (Json& entry : conditions) {
    if (string_at(entry, {"type"}) != type) continue;
    const bool same = string_at(entry, {"status"}) == value && string_at(entry, {"reason"}) == reason &&
                      string_at(entry, {"message"}) == message;
    if (!same) entry = wanted;
    return !same;
  }
  if (value != "False") conditions.push_back(wanted);
  if (conditions.empty()) status.erase("conditions");
  return value != "False";
}

}  // namespace tpuslice::sim
