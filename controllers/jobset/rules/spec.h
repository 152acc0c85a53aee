// JobSetSpec: fields of a JobSet that admission and the controller read, with upstream's defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/types/object.h"

namespace tpuslice::jobset {

inline constexpr ResourceType kJobSets{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};

/// spec.managedBy of a JobSet that this operator reconciles; it may be absent.
inline constexpr std::string_view kControllerName = "jobset.sigs.k8s.io/jobset-controller";

/// Ours, annotation of a JobSet. "FailureTarget": a Job counts as failed as soon as it has that condition, before its
/// pods have terminated, and its replacement may be created while they terminate.
inline constexpr std::string_view kRestartAt = "tpuslice.dev/restart-at";

/// A longer deadline is cut to this, which times can be added to.
inline constexpr Duration kMaxActiveDeadline = std::chrono::hours(24 * 365 * 100);

/// A replicated job waits until another one is ready, or has succeeded.
struct Dependency {
  std::string name;
  bool complete = false;
};

/// An element of spec.replicatedJobs; borrows from the JobSet.
struct ReplicatedJob {
  const Json* json = nullptr;
  std::string path;  ///< "spec.replicatedJobs[0]"
  std::string name;
  std::string group;
  std::int64_t replicas = 1;
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;  ///< 1 if parallelism is absent too, as in Jobs.
  bool indexed = true;
  std::vector<Dependency> depends_on;
  const Json* job_template = nullptr;  ///< Null if absent, which is invalid.
  const Json* pod_template = nullptr;  ///< Null if absent, which is invalid.

  /// Path of a field of the Job: "spec.replicatedJobs[0].template.spec.<field>".
  [[nodiscard]] std::string job_path(std::string_view field) const;
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

/// Name of the rule at `index` of a failure policy if it has none.
[[nodiscard]] std::string default_rule_name(std::size_t index);

struct FailurePolicy {
  int max_restarts = 0;
  bool blocking = false;  ///< BlockingRecreate: no Job is created while one of the previous attempt exists.
  std::vector<FailureRule> rules;

  /// Single Jobs may be restarted, so each has an attempt of its own.
  [[nodiscard]] bool restarts_single_jobs() const;
};

struct SuccessPolicy {
  bool any = false;
  std::vector<std::string> targets;  ///< Replicated jobs; empty: all.
};

struct VolumeClaim {
  std::string volume;  ///< Name of the template, and of the volume in pods.
  std::string name;    ///< Name of the PersistentVolumeClaim.
  bool retained = false;
  const Json* claim_template = nullptr;
};

/// Borrows from the object it was read from. Fields are not validated; validator.h does that.
struct JobSetSpec {
  ObjectKey key;
  std::string uid;
  std::int64_t generation = 0;
  ControllerRef owner;  ///< The owner reference of children.
  StringMap annotations;
  std::vector<ReplicatedJob> jobs;  ///< The elements of spec.replicatedJobs that are objects.
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
  std::optional<Duration> active_deadline;  ///< activeDeadlineSeconds, at most kMaxActiveDeadline.
  std::vector<VolumeClaim> claims;
  const Json* scheduling = nullptr;  ///< spec.scheduling, read by scheduling.h; null if absent.
  bool restart_at_failure_target = false;

  static JobSetSpec read(const Object& jobset);
  /// Reads a JobSet, without the owner reference.
  static JobSetSpec read(const Json& jobset);
  // It would borrow from a temporary.
  static JobSetSpec read(const Json&&) = delete;
  static JobSetSpec read(const Object&&) = delete;

  [[nodiscard]] bool managed_by_other() const;
  /// Null if there is no replicated job of that name.
  [[nodiscard]] const ReplicatedJob* find(std::string_view name) const;
  /// Number of Jobs of all replicated jobs.
  [[nodiscard]] std::int64_t total_replicas() const;
  /// Number of Jobs in a group.
  [[nodiscard]] std::int64_t group_replicas(std::string_view group) const;
  /// Number of Jobs of the replicated jobs before `job`; only those of `group` if given.
  [[nodiscard]] std::int64_t jobs_before(const ReplicatedJob& job, std::optional<std::string_view> group = {}) const;
};

/// "train-workers-3"
[[nodiscard]] std::string job_name(const JobSetSpec& spec, const ReplicatedJob& job, std::int64_t index);

}  // namespace tpuslice::jobset
