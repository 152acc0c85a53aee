// JobSetSpec: what a JobSet asks for, with upstream's defaults in place of what is absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/types/object.h"

namespace tpuslice::jobset {

/// What a replicated job waits for: that one of the earlier ones is ready, or has succeeded.
struct Dependency {
  std::string name;
  bool complete = false;
};

/// One element of spec.replicatedJobs; borrows from the JobSet.
struct ReplicatedJob {
  std::string name;
  std::string group;
  int replicas = 1;
  int parallelism = 1;
  std::optional<int> completions;
  bool indexed = true;
  std::vector<Dependency> depends_on;
  const Json* job_template = nullptr;  ///< Null where the spec has none, and is invalid.
};

enum class FailureAction : std::uint8_t {
  kFailJobSet,
  kRestartJobSet,
  kRestartJobSetAndIgnoreMaxRestarts,
  kRestartJob,
  kRestartJobAndIgnoreMaxRestarts,
};

struct FailureRule {
  std::string name;
  FailureAction action = FailureAction::kRestartJobSet;
  std::vector<std::string> reasons;           ///< Empty: any.
  std::vector<std::string> message_patterns;  ///< RE2; empty: any.
  std::vector<std::string> targets;           ///< Replicated jobs; empty: all.
};

struct FailurePolicy {
  int max_restarts = 0;
  bool blocking = false;  ///< BlockingRecreate: nothing is created before all of the last attempt is gone.
  std::vector<FailureRule> rules;

  /// Single Jobs may be restarted, so each is numbered by its own attempts too.
  [[nodiscard]] bool restarts_single_jobs() const;
};

struct SuccessPolicy {
  bool any = false;
  std::vector<std::string> targets;  ///< Replicated jobs; empty: all.
};

struct VolumeClaim {
  std::string volume;  ///< Name of the template, and of the volume in pods.
  std::string name;    ///< Of the PersistentVolumeClaim.
  bool retained = false;
  const Json* claim_template = nullptr;
};

/// Borrows from the object it was read from. Fields are as they are in the spec, legal or not; the validator of
/// webhook/rules/jobset says what is wrong with them.
struct JobSetSpec {
  ObjectKey key;
  std::string uid;
  std::int64_t generation = 0;
  ControllerRef owner;  ///< The JobSet, as its children refer to it.
  StringMap annotations;
  std::vector<ReplicatedJob> jobs;
  bool suspended = false;
  bool dns = true;
  bool publish_not_ready = true;
  std::string subdomain;
  SuccessPolicy success;
  std::optional<FailurePolicy> failure;
  bool in_order = false;
  std::string coordinator;  ///< Address of the coordinator; empty without one.
  std::string managed_by;
  std::optional<Duration> ttl;
  std::vector<VolumeClaim> claims;
  bool restart_at_failure_target = false;

  static JobSetSpec read(const Object& jobset);

  [[nodiscard]] bool managed_elsewhere() const;
  /// Null if there is none of that name.
  [[nodiscard]] const ReplicatedJob* find(std::string_view name) const;
  /// Jobs of all replicated jobs.
  [[nodiscard]] int total_replicas() const;
  /// Of those in one group.
  [[nodiscard]] int group_replicas(std::string_view group) const;
  /// How many Jobs the replicated jobs before `job` have; of its group only, where one is given.
  [[nodiscard]] int jobs_before(const ReplicatedJob& job, std::optional<std::string_view> group = {}) const;
};

/// "train-workers-3"
[[nodiscard]] std::string job_name(const JobSetSpec& spec, const ReplicatedJob& job, int index);

}  // namespace tpuslice::jobset
