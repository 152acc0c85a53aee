// RayJobSpec: fields of a RayJob that admission and the controller read, with the CRD's defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/types/object.h"

namespace tpuslice::rayjob {

inline constexpr ResourceType kRayJobs{"ray.io", "v1", "RayJob", "rayjobs"};

/// Member of spec.clusterSelector that names the RayCluster.
inline constexpr std::string_view kSelectorKey = "ray.io/cluster";

enum class SubmissionMode : std::uint8_t {
  kK8sJob,       ///< A Job of ours submits.
  kHttp,         ///< The operator submits.
  kSidecar,      ///< A container of the head pod submits.
  kInteractive,  ///< The user submits, and writes the id into spec.jobId.
};
/// The name in spec.submissionMode.
[[nodiscard]] std::string_view to_string(SubmissionMode mode);
/// `fallback` if there is no mode of that name.
[[nodiscard]] SubmissionMode submission_mode(std::string_view name, SubmissionMode fallback);

/// What is deleted after the end, by impact.
enum class DeletionPolicy : std::uint8_t { kNone, kWorkers, kCluster, kSelf };

struct DeletionRule {
  enum class Condition : std::uint8_t {
    kSucceeded,  ///< jobStatus: SUCCEEDED
    /// jobStatus: FAILED. Any job that ended without SUCCEEDED counts: one that was stopped, or whose deadline passed
    /// while it ran, would otherwise match no rule and keep its cluster.
    kNotSucceeded,
    kDeploymentFailed,  ///< jobDeploymentStatus: Failed
  };
  DeletionPolicy policy = DeletionPolicy::kNone;
  Condition condition = Condition::kSucceeded;
  Duration ttl = Duration::zero();  ///< After the end.
  friend bool operator==(const DeletionRule&, const DeletionRule&) = default;
};

/// Whether the job runs on an existing cluster, of spec.clusterSelector.
[[nodiscard]] bool selects_cluster(const Json& job);

/// Borrows from the document it was read from, which must outlive it.
struct RayJobSpec {
  ObjectKey key;
  std::string uid;
  std::int64_t generation = 0;
  ControllerRef owner;            ///< The owner reference of children.
  const Json* cluster = nullptr;  ///< rayClusterSpec; null if absent.
  bool selects_cluster = false;   ///< clusterSelector is set: a cluster that exists is used.
  std::string selected_cluster;   ///< Its name.
  SubmissionMode mode = SubmissionMode::kK8sJob;
  std::string entrypoint;
  std::string job_id;                        ///< Empty: one is derived.
  std::string runtime_env;                   ///< runtimeEnvYAML
  StringMap metadata;                        ///< Metadata of the Ray job.
  const Json* entrypoint_cpus = nullptr;     ///< entrypointNumCpus; null if absent.
  const Json* entrypoint_gpus = nullptr;     ///< entrypointNumGpus; null if absent.
  std::string entrypoint_resources;          ///< JSON.
  const Json* submitter_template = nullptr;  ///< submitterPodTemplate; null if absent.
  std::int64_t submitter_retries = 2;        ///< submitterConfig.backoffLimit
  std::int64_t backoff_limit = 0;
  std::optional<Duration> active_deadline;
  std::optional<Duration> pre_running_deadline;
  bool shutdown = false;               ///< shutdownAfterJobFinishes
  Duration ttl = Duration::zero();     ///< ttlSecondsAfterFinished
  std::vector<DeletionRule> deletion;  ///< The rules of deletionStrategy, in either form.
  bool has_deletion_strategy = false;
  bool suspend = false;
  std::string managed_by;

  /// True if spec.managedBy assigns the RayJob to another controller.
  [[nodiscard]] bool managed_by_other() const;

  /// Never fails: members of the wrong type count as absent; validation refuses them.
  static RayJobSpec read(const Json& job);
  static RayJobSpec read(const Object& job) { return read(job.json()); }
  // It would borrow from a temporary.
  static RayJobSpec read(const Json&&) = delete;
  static RayJobSpec read(const Object&&) = delete;
};

}  // namespace tpuslice::rayjob
