#include "tests/support/jobset/jobsets.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/jobset/rules/jobset_labels.h"

namespace tpuslice::jobset {
namespace {

void add_condition(Json& job, const std::string& type, const std::string& reason, const std::string& message,
                   Duration when) {
  Json& conditions = job["status"]["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  conditions.push_back({{"type", type},
                        {"status", "True"},
                        {"reason", reason},
                        {"message", message},
                        {"lastTransitionTime", format_rfc3339(after(when))}});
}

void set_status(Json& job, int pods_active, int pods_ready, int pods_succeeded) {
  job["status"] = {{"startTime", format_rfc3339(start_of_time())},
                   {"active", pods_active},
                   {"ready", pods_ready},
                   {"succeeded", pods_succeeded}};
}

int pods_of(const Json& job) { return static_cast<int>(int_at(job, {"spec", "parallelism"}, 1)); }

void set_label(Json& job, std::string_view key, const std::string& value) {
  for (const char* map : {"labels", "annotations"}) job["metadata"][map][std::string(key)] = value;
}

}  // namespace

Timestamp start_of_time() { return *parse_rfc3339("2026-01-01T00:00:00Z"); }
Timestamp after(Duration passed) { return start_of_time() + passed; }

void fresh(Json& job) { job.erase("status"); }
void active(Json& job) { set_status(job, pods_of(job), 0, 0); }
void ready(Json& job) { set_status(job, pods_of(job), pods_of(job), 0); }

void succeeded(Json& job) {
  set_status(job, 0, 0, pods_of(job));
  add_condition(job, "SuccessCriteriaMet", "CompletionsReached", "", {});
  add_condition(job, "Complete", "CompletionsReached", "", {});
}

void suspended(Json& job) {
  job["spec"]["suspend"] = true;
  job["status"] = Json::object();
  add_condition(job, "Suspended", "JobSuspended", "Job suspended", {});
}

JobChange failed(std::string reason, std::string message, Duration when) {
  return [=](Json& job) {
    set_status(job, 0, 0, 0);
    add_condition(job, "FailureTarget", reason, message, when);
    add_condition(job, "Failed", reason, message, when);
  };
}

JobChange with_condition(std::string type, std::string reason, Duration when) {
  return [=](Json& job) { add_condition(job, type, reason, "", when); };
}

JobChange being_deleted(Duration since) {
  return [=](Json& job) {
    job["metadata"]["deletionTimestamp"] = format_rfc3339(after(since));
    job["metadata"]["finalizers"] = {"foregroundDeletion"};
  };
}

JobChange of_attempt(int attempt) {
  return [=](Json& job) { set_label(job, kRestartAttempt, std::to_string(attempt)); };
}

JobChange of_job_attempt(int attempt) {
  return [=](Json& job) { set_label(job, kJobRestartAttempt, std::to_string(attempt)); };
}

JobChange without_label(std::string_view key) {
  return [name = std::string(key)](Json& job) {
    for (const char* map : {"labels", "annotations"}) job["metadata"][map].erase(name);
  };
}

JobChange with_label(std::string_view key, std::string value) {
  return [name = std::string(key), value = std::move(value)](Json& job) { job["metadata"]["labels"][name] = value; };
}

JobChange with_field(std::string pointer, Json value) {
  return [=](Json& job) { job[Json::json_pointer(pointer)] = value; };
}

JobSetBuilder a_jobset(const std::string& name) { return JobSetBuilder(name); }

JobSetBuilder::JobSetBuilder(const std::string& name) {
  json_ = {{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
           {"kind", "JobSet"},
           {"metadata", {{"name", name}, {"namespace", "default"}, {"uid", "uid-of-" + name}, {"generation", 1}}},
           {"spec", {{"replicatedJobs", Json::array()}}}};
}

JobSetBuilder& JobSetBuilder::job(const std::string& name, int replicas) {
  const Json container = {{"name", "main"}, {"image", "image"}};
  json_["spec"]["replicatedJobs"].push_back(
      {{"name", name},
       {"replicas", replicas},
       {"template", {{"spec", {{"template", {{"spec", {{"containers", Json::array({container})}}}}}}}}}});
  return *this;
}

JobSetBuilder& JobSetBuilder::of_job(const std::string& pointer, Json value) {
  json_["spec"]["replicatedJobs"].back()[Json::json_pointer(pointer)] = std::move(value);
  return *this;
}

JobSetBuilder& JobSetBuilder::of_pod(const std::string& pointer, Json value) {
  return of_job("/template/spec/template" + pointer, std::move(value));
}

JobSetBuilder& JobSetBuilder::hosts(int count) {
  return of_job("/template/spec/parallelism", count).of_job("/template/spec/completions", count);
}

JobSetBuilder& JobSetBuilder::tpu(const std::string& accelerator, const std::string& topology, int chips) {
  of_pod("/spec/nodeSelector/cloud.google.com~1gke-tpu-accelerator", accelerator);
  of_pod("/spec/nodeSelector/cloud.google.com~1gke-tpu-topology", topology);
  for (const char* amount : {"limits", "requests"}) {
    of_pod(fmt::format("/spec/containers/0/resources/{}/google.com~1tpu", amount), std::to_string(chips));
  }
  return *this;
}

JobSetBuilder& JobSetBuilder::group(const std::string& name) { return of_job("/groupName", name); }

JobSetBuilder& JobSetBuilder::depends_on(const std::string& job, const std::string& status) {
  Json& jobs = json_["spec"]["replicatedJobs"];
  jobs.back()["dependsOn"].push_back({{"name", job}, {"status", status}});
  return *this;
}

JobSetBuilder& JobSetBuilder::restarts(int max) { return set("/spec/failurePolicy/maxRestarts", max); }

JobSetBuilder& JobSetBuilder::rule(Json rule) {
  json_["spec"]["failurePolicy"]["rules"].push_back(std::move(rule));
  return *this;
}

JobSetBuilder& JobSetBuilder::suspend() { return set("/spec/suspend", true); }
JobSetBuilder& JobSetBuilder::in_order() { return set("/spec/startupPolicy/startupPolicyOrder", "InOrder"); }

JobSetBuilder& JobSetBuilder::annotation(const std::string& key, const std::string& value) {
  json_["metadata"]["annotations"][key] = value;
  return *this;
}

JobSetBuilder& JobSetBuilder::set(const std::string& pointer, Json value) {
  json_[Json::json_pointer(pointer)] = std::move(value);
  return *this;
}

World JobSetBuilder::everywhere(const JobChange& change) const {
  World out = world();
  out.with_resources().every_job(change);
  return out;
}

Outcome Scene::render(const Decisions& decisions) const {
  const auto builder = std::make_shared<const JobBuilder>(seen.jobset, state.status, Options{});
  plan::Plan plan = jobset::render(state, decisions, builder);
  Object jobset = seen.jobset;
  if (plan.status) jobset.mutable_json()["status"] = plan.status->status;
  return {std::move(plan), JobSetStatus::read(jobset)};
}

std::vector<std::string> describe(const std::vector<plan::EventIntent>& events) {
  std::vector<std::string> out;
  for (const plan::EventIntent& event : events) {
    out.push_back(fmt::format("{} {}: {}", event.type == plan::EventType::kNormal ? "Normal" : "Warning", event.reason,
                              event.message));
  }
  return out;
}

std::string condition(const Json& conditions, std::string_view type) {
  const Json* found = find_condition(conditions, type);
  if (found == nullptr) return {};
  return fmt::format("{} {}: {}", string_at(*found, {"status"}), string_at(*found, {"reason"}),
                     string_at(*found, {"message"}));
}

std::vector<std::string> names_of(const std::vector<JobPtr>& jobs) {
  std::vector<std::string> out;
  for (const JobPtr& job : jobs) out.push_back(job->key.name);
  return out;
}

}  // namespace tpuslice::jobset
