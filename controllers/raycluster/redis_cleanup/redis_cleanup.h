// Deletion of a fault-tolerant cluster: the state of its GCS is deleted from Redis before the cluster is.
//
// A finalizer, added before the first pod is created, holds the deleted cluster. Its pods are deleted; when no head can
// write to Redis, a Job deletes the state. The finalizer is removed when the Job has finished, or when
// the cleanup is not possible or takes too long: an event then says that the state may still be there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controllers/raycluster/raycluster_options.h"
#include "controllers/raycluster/raycluster_state.h"

namespace tpuslice::raycluster {

inline constexpr std::string_view kRedisCleanupFinalizer = "ray.io/gcs-ft-redis-cleanup-finalizer";
/// Annotation of a RayCluster: seconds after its deletion until the finalizer is removed in any case.
inline constexpr std::string_view kDeletionTimeout = "ray.io/gcs-ft-deletion-timeout";
inline constexpr Duration kDefaultDeletionTimeout = std::chrono::seconds(300);
/// Failure reason of the creation of the Job.
inline constexpr std::string_view kFailedRedisCleanupJob = "FailedRedisCleanupJob";

/// True if the cluster is to get the finalizer.
[[nodiscard]] bool needs_cleanup_finalizer(const RayClusterSpec& spec, const Object& cluster, const Options& options);

/// What is done for a cluster that is being deleted. Borrows from the observation.
struct DeletionDecision {
  /// Whether the finalizer is removed, and why.
  enum class Release : std::uint8_t {
    kNone,       ///< It stays, or there is none.
    kSkipped,    ///< Redis is not cleaned; see `problem`.
    kTimedOut,   ///< The cleanup has taken too long; see `age`.
    kCleaned,    ///< The Job has completed.
    kJobFailed,  ///< See `job_failure`.
  };
  Release release = Release::kNone;
  std::string problem = {};                   ///< Why Redis is not cleaned.
  Duration age = {};                          ///< Time since the deletion.
  const JobCondition* job_failure = nullptr;  ///< The condition that says why the Job has failed.
  std::vector<PodPtr> deleted_pods = {};
  std::optional<Object> create_job = {};
  std::string conflict = {};  ///< The Job of that name that is not the cluster's: its deletion is waited for.
  std::optional<Duration> requeue_after = {};
};

/// Whether the spec is valid does not matter.
[[nodiscard]] DeletionDecision decide_deletion(const RayClusterState& state, const Options& options);

}  // namespace tpuslice::raycluster
