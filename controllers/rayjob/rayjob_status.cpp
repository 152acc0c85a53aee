#include "controllers/rayjob/rayjob_status.h"

#include "controllers/plan/plan.h"
#include "controllers/rayjob/rules/rayjob_labels.h"

namespace tpuslice::rayjob {
namespace {

std::optional<Timestamp> time_at(const Json& status, std::initializer_list<std::string_view> path) {
  return parse_rfc3339(string_at(status, path));
}

/// Sets a member unless it is empty, like Go's omitempty.
void put(Json& status, const char* name, const std::string& value) {
  if (value.empty()) {
    status.erase(name);
  } else {
    status[name] = value;
  }
}

void put(Json& status, const char* name, const std::optional<Timestamp>& value) {
  put(status, name, value ? format_rfc3339(*value) : std::string());
}

void put(Json& status, const char* name, Json value) {
  if (value.is_null() || value.empty()) {
    status.erase(name);
  } else {
    status[name] = std::move(value);
  }
}

}  // namespace

RayJobStatus RayJobStatus::read(const Object& job) {
  const Json status = plan::status_of(job);
  RayJobStatus out;
  out.deployment = string_at(status, {"jobDeploymentStatus"});
  out.job = string_at(status, {"jobStatus"});
  out.job_id = string_at(status, {"jobId"});
  out.cluster_name = string_at(status, {"rayClusterName"});
  out.dashboard_url = string_at(status, {"dashboardURL"});
  out.reason = string_at(status, {"reason"});
  out.message = string_at(status, {"message"});
  out.started = time_at(status, {"startTime"});
  out.ended = time_at(status, {"endTime"});
  out.check_failing_since = time_at(status, {"jobStatusCheckFailureStartTime"});
  out.job_started = time_at(status, {"rayJobInfo", "startTime"});
  out.job_ended = time_at(status, {"rayJobInfo", "endTime"});
  out.succeeded = int_at(status, {"succeeded"});
  out.failed = int_at(status, {"failed"});
  if (const Json* cluster = find_set(status, {"rayClusterStatus"}); cluster != nullptr) out.cluster = *cluster;
  if (const Json& conditions = array_at(status, {"conditions"}); !conditions.empty()) out.conditions = conditions;
  return out;
}

Json RayJobStatus::to_json(const Json& before, std::int64_t generation) const {
  Json out = before.is_object() ? before : Json::object();
  put(out, "jobDeploymentStatus", deployment);
  put(out, "jobStatus", job);
  put(out, "jobId", job_id);
  put(out, "rayClusterName", cluster_name);
  put(out, "dashboardURL", dashboard_url);
  put(out, "reason", reason);
  put(out, "message", message);
  put(out, "startTime", started);
  put(out, "endTime", ended);
  put(out, "jobStatusCheckFailureStartTime", check_failing_since);
  Json info = Json::object();
  put(info, "startTime", job_started);
  put(info, "endTime", job_ended);
  put(out, "rayJobInfo", std::move(info));
  put(out, "rayClusterStatus", cluster);
  out["succeeded"] = succeeded;
  out["failed"] = failed;
  out["observedGeneration"] = generation;
  out["conditions"] = conditions;
  return out;
}

bool RayJobStatus::finished() const { return is_finished(deployment); }

void RayJobStatus::clear_attempt() {
  job.clear();
  job_id.clear();
  cluster_name.clear();
  dashboard_url.clear();
  reason.clear();
  message.clear();
  check_failing_since.reset();
  job_started.reset();
  job_ended.reset();
  cluster = Json();
}

}  // namespace tpuslice::rayjob
