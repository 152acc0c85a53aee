#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/check.h"
#include "api/types/patch.h"
#include "controllers/jobset/headless_service.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/jobset/volume_claims.h"
#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

template <typename View>
std::shared_ptr<const View> view_of(const Json& json) {
  Result<View> view = View::from_json(json);
  TPUSLICE_CHECK_MSG(view.ok(), view.ok() ? std::string() : view.error().message());
  return std::make_shared<const View>(*std::move(view));
}

/// The API server's defaults of a Job that the tests need.
Json with_defaults(Json job) {
  Json& spec = job["spec"];
  if (!spec.contains("parallelism") && !spec.contains("completions")) spec["completions"] = 1;
  if (!spec.contains("parallelism")) spec["parallelism"] = 1;
  return job;
}

}  // namespace

World::World(Json jobset) : jobset_(std::move(jobset)) {}

JobSetObserved World::observed() const {
  JobSetObserved seen{jobset_, {}, nullptr, {}, {}, now_, last_failure_};
  for (const auto& [name, job] : jobs_) seen.jobs.push_back(view_of<JobView>(job));
  const JobSetSpec spec = JobSetSpec::read(jobset_);
  if (string_at(service_, {"metadata", "name"}) == spec.subdomain) seen.service = view_of<ServiceView>(service_);
  for (const auto& [name, claim] : claims_) seen.claims.push_back(view_of<ObjectView>(claim));
  return seen;
}

Json World::build(const std::string& name) const {
  const JobSetSpec spec = this->spec();
  const JobBuilder builder(jobset_, JobSetStatus::read(jobset_), {});
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
  auto found = jobs_.find(name);
  if (found == jobs_.end()) {
    found = jobs_.emplace(name, build(name)).first;
    found->second["metadata"]["uid"] = "uid-of-" + name;
  }
  const Json before = found->second;
  change(found->second);
  if (found->second != before || !before["metadata"].contains("resourceVersion")) touch(found->second);
  return *this;
}

void World::touch(Json& object) { object["metadata"]["resourceVersion"] = std::to_string(next_version_++); }

World& World::every_job(const JobChange& change) {
  const JobSetSpec spec = this->spec();
  for (const ReplicatedJob& each : spec.jobs) {
    for (int index = 0; index < each.replicas; ++index) job(job_name(spec, each, index), change);
  }
  return *this;
}

World& World::without_job(const std::string& name) {
  jobs_.erase(name);
  return *this;
}

World& World::with_resources() {
  const JobSetSpec spec = this->spec();
  if (spec.dns) with_service(build_service(spec));
  for (const VolumeClaim& claim : spec.claims) with_claim(build_claim(spec, claim));
  return *this;
}

World& World::with_service(Json service) {
  service_ = std::move(service);
  service_["metadata"]["uid"] = "uid-of-service";
  return *this;
}

World& World::without_service() {
  service_ = nullptr;
  return *this;
}

World& World::with_claim(Json claim) {
  const std::string name = string_at(claim, {"metadata", "name"});
  claim["metadata"]["uid"] = "uid-of-" + name;
  claims_[name] = std::move(claim);
  return *this;
}

World& World::set(const std::string& pointer, Json value) {
  jobset_.mutable_json()[Json::json_pointer(pointer)] = std::move(value);
  return *this;
}

World& World::last_failure(std::string reason, std::string message) {
  last_failure_ = plan::Failure{std::move(reason), std::move(message)};
  return *this;
}

void World::apply(const plan::Action& action) {
  const std::string& name = action.key.name;
  if (action.type == kJobSets) {
    TPUSLICE_CHECK_MSG(action.kind == plan::ActionKind::kDelete, name);
    jobset_.mutable_json()["metadata"]["deletionTimestamp"] = format_rfc3339(now_);
    return;
  }
  std::map<std::string, Json> services;
  if (service_.is_object()) services.emplace(string_at(service_, {"metadata", "name"}), service_);
  auto& objects = action.type == kJobs ? jobs_ : action.type == kServices ? services : claims_;
  const auto found = objects.find(name);
  if (action.kind == plan::ActionKind::kCreate) {
    TPUSLICE_CHECK_MSG(found == objects.end(), "exists: " + name);
    Json& created = objects[name] = *action.body.make();
    created["metadata"]["uid"] = fmt::format("uid-{}-of-{}", next_uid_++, name);
    if (action.type == kJobs) created = with_defaults(std::move(created));
    touch(created);
  } else {
    TPUSLICE_CHECK_MSG(found != objects.end(), "does not exist: " + name);
    Json& object = found->second;
    TPUSLICE_CHECK_MSG(action.preconditions.uid == string_at(object, {"metadata", "uid"}), name);
    const std::string& version = action.preconditions.resource_version;
    TPUSLICE_CHECK_MSG(version.empty() || version == string_at(object, {"metadata", "resourceVersion"}), name);
    if (action.kind == plan::ActionKind::kPatch) {
      object = apply_merge_patch(std::move(object), *action.body.make());
      touch(object);
    } else if (action.propagation == plan::Propagation::kForeground) {
      object["metadata"]["deletionTimestamp"] = format_rfc3339(now_);
      object["metadata"]["finalizers"] = {"foregroundDeletion"};
      touch(object);
    } else {
      objects.erase(found);
    }
  }
  if (action.type == kServices) service_ = services.contains(name) ? services[name] : Json();
}

void World::advance() {
  std::erase_if(jobs_, [](const auto& entry) { return entry.second["metadata"].contains("deletionTimestamp"); });
  for (auto& [name, job] : jobs_) {
    if (!array_at(job, {"status", "conditions"}).empty() && !bool_at(job, {"spec", "suspend"}) &&
        string_at(job, {"status", "conditions", "0", "type"}) != "Suspended") {
      continue;  // Finished.
    }
    bool_at(job, {"spec", "suspend"}) ? suspended(job) : ready(job);
  }
}

void carry_out(const plan::Plan& plan, World& world) {
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) world.apply(action);
  }
  if (plan.status) world.set("/status", plan.status->status);
}

}  // namespace tpuslice::jobset
