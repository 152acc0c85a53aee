// RestartWatch: records when the steps of a restart of a JobSet are observed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "tests/bench/watch_stream.h"

namespace tpuslice::bench {

/// Observed steps of a restart, in about this order.
enum class RestartStep : std::uint8_t {
  kFailureTarget,    ///< A Job has the condition FailureTarget.
  kJobFailed,        ///< That Job has failed.
  kCounted,          ///< The status of the JobSet counts the restart.
  kJobsTerminating,  ///< All Jobs of the old attempt have a deletion timestamp.
  kPodsTerminating,  ///< All pods of the old attempt have a deletion timestamp.
  kPodsDeleted,
  kJobsDeleted,
  kJobsCreated,     ///< All Jobs of the new attempt exist.
  kFirstPod,        ///< The first pod of the new attempt exists.
  kPodsCreated,     ///< All pods of the new attempt exist.
  kPodsDuplicated,  ///< An ungated pod of the new attempt existed before its predecessor was deleted: a violation.
};
inline constexpr std::size_t kRestartSteps = static_cast<std::size_t>(RestartStep::kPodsDuplicated) + 1;

[[nodiscard]] std::string_view name_of(RestartStep step);

/// The objects of a restart.
struct RestartExtent {
  std::string namespace_name;
  std::string resource_version;  ///< Events after this one.
  int attempt = 0;               ///< The old attempt.
  std::size_t jobs = 0;
  std::size_t pods = 0;
};

/// Watches the pods, Jobs and JobSets of one namespace. Thread-safe.
class RestartWatch {
 public:
  /// Errors: Unavailable.
  static Result<std::unique_ptr<RestartWatch>> start(const client::ClientConfig& config, RestartExtent extent);

  /// Waits until the step is complete and returns the time. Errors: Timeout with the progress.
  Result<Instant> wait(RestartStep step, Duration limit) const TPUSLICE_EXCLUDES(mutex_);
  /// The time of the step; std::nullopt if it is not complete.
  [[nodiscard]] std::optional<Instant> at(RestartStep step) const TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Progress {
    std::set<std::string, std::less<>> names;
    std::size_t expected = 1;
    Instant last{};  ///< Time of the last expected object.
  };
  explicit RestartWatch(RestartExtent extent);
  void on_pod(std::string_view line, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void on_job(std::string_view line, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void on_jobset(std::string_view line, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void record(RestartStep step, std::string_view name, Instant now) TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] const Progress& of(RestartStep step) const TPUSLICE_REQUIRES(mutex_) {
    return progress_[static_cast<std::size_t>(step)];
  }

  const RestartExtent extent_;
  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  std::array<Progress, kRestartSteps> progress_ TPUSLICE_GUARDED_BY(mutex_);
  std::set<std::string, std::less<>> hosts_ TPUSLICE_GUARDED_BY(mutex_);  ///< Of deleted pods.
  std::vector<std::unique_ptr<WatchStream>> streams_;                     ///< Destroyed first.
};

}  // namespace tpuslice::bench
