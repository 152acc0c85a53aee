#include "tests/support/jobset/world.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "controllers/jobset/children.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/jobset_plan.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

/// The API server's defaults of a Job that the tests need.
Json with_defaults(Json job) {
  Json& spec = job["spec"];
  if (!spec.contains("parallelism") && !spec.contains("completions")) spec["completions"] = 1;
  if (!spec.contains("parallelism")) spec["parallelism"] = 1;
  return job;
}

}  // namespace

World::World(Json jobset) : PlanWorld(kJobSets, std::move(jobset), start_of_time()) {}

JobSetObserved World::observed() const {
  JobSetObserved seen{jobset(), views<JobView>(kJobs), nullptr, {}, {}, now_, last_failure_};
  std::erase_if(seen.jobs,
                [&](const JobPtr& job) { return !job->controller || job->controller->uid != seen.jobset.uid(); });
  const Objects& services = objects(kServices);
  const auto service = services.find(spec().subdomain);
  if (service != services.end()) seen.service = plan::view_of<ServiceView>(service->second);
  seen.claims = views<ObjectView>(kVolumeClaims);
  seen.priorities = priorities;
  return seen;
}

plan::Plan World::plan() const { return plan_jobset(observed(), options); }

Json World::build(const std::string& name) const {
  const JobSetSpec spec = this->spec();
  const JobBuilder builder(jobset(), JobSetStatus::read(jobset()), {});
  for (std::size_t which = 0; which < spec.jobs.size(); ++which) {
    for (int index = 0; index < spec.jobs[which].replicas; ++index) {
      if (job_name(spec, spec.jobs[which], index) != name) continue;
      Result<Json> job = builder.build(which, index);
      TPUSLICE_CHECK_MSG(job.ok(), job.ok() ? std::string() : job.error().message());
      return with_defaults(*std::move(job));
    }
  }
  TPUSLICE_CHECK_MSG(false, "not a Job of this JobSet: " + name);
  return {};
}

World& World::job(const std::string& name, const JobChange& change) {
  Objects& jobs = objects(kJobs);
  auto found = jobs.find(name);
  if (found == jobs.end()) {
    found = jobs.emplace(name, build(name)).first;
    found->second["metadata"]["uid"] = "uid-of-" + name;
  }
  const Json before = found->second;
  change(found->second);
  if (found->second != before || !before["metadata"].contains("resourceVersion")) touch(found->second);
  return *this;
}

World& World::every_job(const JobChange& change) {
  const JobSetSpec spec = this->spec();
  for (const ReplicatedJob& each : spec.jobs) {
    for (int index = 0; index < each.replicas; ++index) job(job_name(spec, each, index), change);
  }
  return *this;
}

World& World::without_job(const std::string& name) {
  objects(kJobs).erase(name);
  return *this;
}

World& World::with_resources() {
  const JobSetSpec spec = this->spec();
  if (spec.dns) with_service(build_service(spec));
  for (const VolumeClaim& claim : spec.claims) with_claim(build_claim(spec, claim));
  return *this;
}

World& World::with_service(Json service) {
  without_service();
  service["metadata"]["uid"] = "uid-of-service";
  const std::string name = string_at(service, {"metadata", "name"});
  objects(kServices)[name] = std::move(service);
  return *this;
}

World& World::without_service() {
  objects(kServices).clear();
  return *this;
}

World& World::with_claim(Json claim) {
  const std::string name = string_at(claim, {"metadata", "name"});
  claim["metadata"]["uid"] = "uid-of-" + name;
  objects(kVolumeClaims)[name] = std::move(claim);
  return *this;
}

World& World::set(const std::string& pointer, Json value) {
  jobset().mutable_json()[Json::json_pointer(pointer)] = std::move(value);
  return *this;
}

void World::prepare(const ResourceType& type, Json& created) {
  if (type == kJobs) created = with_defaults(std::move(created));
}

void World::advance() {
  now_ += std::chrono::seconds(1);
  std::erase_if(objects(kJobs),
                [](const auto& entry) { return entry.second["metadata"].contains("deletionTimestamp"); });
  for (auto& [name, job] : objects(kJobs)) {
    if (!array_at(job, {"status", "conditions"}).empty() && !bool_at(job, {"spec", "suspend"}) &&
        string_at(job, {"status", "conditions", "0", "type"}) != "Suspended") {
      continue;  // Finished.
    }
    bool_at(job, {"spec", "suspend"}) ? suspended(job) : ready(job);
  }
}

}  // namespace tpuslice::jobset
