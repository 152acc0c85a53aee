// RayCronJobWorld: a RayCronJob and its RayJobs, which no controller serves, for tests of the planner.
#pragma once

#include <string>
#include <utility>

#include "controllers/raycronjob/raycronjob_plan.h"
#include "controllers/raycronjob/rules/raycronjob_labels.h"
#include "controllers/raycronjob/runs.h"
#include "controllers/rayjob/rules/spec.h"
#include "tests/support/plan_world.h"

namespace tpuslice::raycronjob {

/// The spec of a RayJob with one pod.
[[nodiscard]] inline Json a_job_template() {
  return {{"entrypoint", "python train.py"},
          {"shutdownAfterJobFinishes", true},
          {"rayClusterSpec",
           {{"rayVersion", "2.52.0"},
            {"headGroupSpec",
             {{"rayStartParams", Json::object()},
              {"template",
               {{"spec",
                 {{"containers", Json::array({{{"name", "ray-head"}, {"image", "rayproject/ray:2.52.0"}}})}}}}}}}}}};
}

/// The RayCronJob "nightly", created at 08:00 on 15 January 2027.
[[nodiscard]] inline Json a_raycronjob(const std::string& schedule) {
  return {{"apiVersion", "ray.io/v1"},
          {"kind", "RayCronJob"},
          {"metadata",
           {{"name", "nightly"},
            {"namespace", "default"},
            {"uid", "uid-of-nightly"},
            {"resourceVersion", "1"},
            {"generation", 1},
            {"creationTimestamp", "2027-01-15T08:00:00Z"}}},
          {"spec", {{"schedule", schedule}, {"jobTemplate", a_job_template()}}}};
}

class RayCronJobWorld final : public plan::PlanWorld {
 public:
  explicit RayCronJobWorld(const std::string& schedule = "*/10 * * * *")
      : RayCronJobWorld(Of{a_raycronjob(schedule)}) {}
  /// A world with this object.
  [[nodiscard]] static RayCronJobWorld of(Json cron_job) { return RayCronJobWorld(Of{std::move(cron_job)}); }

  [[nodiscard]] RayCronJobObserved observed() const {
    RayCronJobObserved seen{.cron_job = object(), .run = nullptr, .now = now_, .last_failure = last_failure()};
    const RayCronJobSpec& spec = seen.cron_job.spec();
    if (const auto due = find_runs(spec, last_schedule_time(seen.cron_job), now_, options).due) {
      const auto run = jobs().find(run_name(spec, *due));
      if (run != jobs().end()) seen.run = plan::view_of<ObjectView>(run->second);
    }
    return seen;
  }
  [[nodiscard]] plan::Plan plan() const override { return plan_raycronjob(observed(), options); }
  void advance() override { pass(tick); }

  void set_spec(const std::string& field, Json value) {
    Json& json = object().mutable_json();
    json["spec"][field] = std::move(value);
    json["metadata"]["generation"] = json["metadata"]["generation"].get<int>() + 1;
  }
  /// A RayJob with this name, of no owner.
  void add_foreign_job(const std::string& name) {
    add(rayjob::kRayJobs, {{"apiVersion", "ray.io/v1"},
                           {"kind", "RayJob"},
                           {"metadata", {{"name", name}, {"namespace", "default"}}},
                           {"spec", a_job_template()}});
  }
  [[nodiscard]] Objects& jobs() { return objects(rayjob::kRayJobs); }
  [[nodiscard]] const Objects& jobs() const { return objects(rayjob::kRayJobs); }
  [[nodiscard]] Json status() const { return plan::status_of(object()); }
  [[nodiscard]] Timestamp now() const { return now_; }
  void set_now(Timestamp now) { now_ = now; }

  Options options;
  Duration tick = std::chrono::seconds(1);  ///< Time between two plans.

 private:
  struct Of {
    Json cron_job;
  };
  explicit RayCronJobWorld(Of of) : PlanWorld(kRayCronJobs, std::move(of.cron_job), *timestamp_of(1'800'000'000)) {}
};

}  // namespace tpuslice::raycronjob
