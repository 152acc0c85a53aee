// Builders of JobSets for tests, and states of their Jobs.
//
//   a_jobset("train").job("workers", 2).hosts(4).tpu("tpu-v6e-slice", "4x4").restarts(3).observed();  // just applied
//   World world = a_jobset("train").job("workers", 2).everywhere(ready);  // all children exist, all Jobs are ready
//   world.job("train-workers-1", failed("BackoffLimitExceeded", "no more pods", 20s));
//   world.step();
//
// Times count from start_of_time().
#pragma once

#include <string>
#include <vector>

#include "controllers/jobset/decisions.h"
#include "controllers/jobset/jobset_options.h"
#include "controllers/jobset/jobset_state.h"
#include "controllers/jobset/observed.h"
#include "controllers/jobset/render.h"
#include "tests/support/jobset/world.h"

namespace tpuslice::jobset {

inline constexpr const char* kV6e = "tpu-v6e-slice";
inline constexpr const char* kV5e = "tpu-v5-lite-podslice";

/// 2026-01-01T00:00:00Z.
[[nodiscard]] Timestamp start_of_time();
[[nodiscard]] Timestamp after(Duration passed);

/// All pods exist, none is ready.
void active(Json& job);
void ready(Json& job);
void succeeded(Json& job);
/// Suspended by this controller, and reconciled by the Job controller.
void suspended(Json& job);
/// As created: the Job controller has not reconciled it.
void fresh(Json& job);
[[nodiscard]] JobChange failed(std::string reason, std::string message = {}, Duration when = {});
/// A condition is true of the Job.
[[nodiscard]] JobChange with_condition(std::string type, std::string reason = {}, Duration when = {});
[[nodiscard]] JobChange being_deleted(Duration since = {});
/// Attempt of the JobSet, and of the single Job.
[[nodiscard]] JobChange of_attempt(int attempt);
[[nodiscard]] JobChange of_job_attempt(int attempt);
/// Without this label, and without the annotation of the same name.
[[nodiscard]] JobChange without_label(std::string_view key);
[[nodiscard]] JobChange with_label(std::string_view key, std::string value);
/// Any member, by JSON pointer.
[[nodiscard]] JobChange with_field(std::string pointer, Json value);

/// A JobSet in namespace default. Methods about a replicated job change the last one.
class JobSetBuilder {
 public:
  explicit JobSetBuilder(const std::string& name);

  JobSetBuilder& job(const std::string& name, int replicas = 1);
  JobSetBuilder& hosts(int count);  ///< parallelism and completions
  JobSetBuilder& tpu(const std::string& accelerator, const std::string& topology, int chips = 4);
  JobSetBuilder& group(const std::string& name);
  JobSetBuilder& depends_on(const std::string& job, const std::string& status);
  /// A member of the replicated job, by JSON pointer: "/template/spec/backoffLimit".
  JobSetBuilder& of_job(const std::string& pointer, Json value);
  /// A member of its pod template: "/spec/nodeSelector".
  JobSetBuilder& of_pod(const std::string& pointer, Json value);

  JobSetBuilder& restarts(int max);
  JobSetBuilder& rule(Json rule);
  JobSetBuilder& suspend();
  JobSetBuilder& in_order();
  JobSetBuilder& annotation(const std::string& key, const std::string& value);
  /// A member of the JobSet, by JSON pointer: "/spec/ttlSecondsAfterFinished".
  JobSetBuilder& set(const std::string& pointer, Json value);

  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] Object object() const { return Object(json_); }
  [[nodiscard]] World world() const { return World(json_); }
  [[nodiscard]] JobSetObserved observed() const { return world().observed(); }
  /// All children exist, and all Jobs are changed by `change`.
  [[nodiscard]] World everywhere(const JobChange& change) const;

 private:
  Json json_;
};

[[nodiscard]] JobSetBuilder a_jobset(const std::string& name);

/// A plan, and the status after it.
struct Outcome {
  plan::Plan plan;
  JobSetStatus status;
};

/// An observation, and what the policies read of it.
struct Scene {
  explicit Scene(const World& world) : seen(world.observed()), state(seen) {}
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  [[nodiscard]] Outcome render(const Decisions& decisions) const;

  const JobSetObserved seen;
  const JobSetState state;
};

/// "Warning FailedJobs: jobset failed" of each event.
[[nodiscard]] std::vector<std::string> describe(const std::vector<plan::EventIntent>& events);
/// "True FailedJobs: jobset failed"; empty without the condition.
[[nodiscard]] std::string condition(const Json& conditions, std::string_view type);
[[nodiscard]] std::vector<std::string> names_of(const std::vector<JobPtr>& jobs);

}  // namespace tpuslice::jobset
