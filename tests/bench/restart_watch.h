// RestartWatch: the outside watcher of one restart of a JobSet.
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

/// What is seen of a restart, in about this order.
enum class RestartStep : std::uint8_t {
  kFailureTarget,  ///< A Job is bound to fail
  kJobFailed,      ///< and has failed.
  kCounted,        ///< The status of the JobSet has one restart more.
  kJobsMarked,     ///< Every Job of the old attempt is being deleted,
  kPodsMarked,     ///< so is every pod.
  kPodsGone,
  kJobsGone,
  kJobsMade,     ///< All Jobs of the new attempt are there.
  kFirstPod,     ///< The first pod of the new attempt is there,
  kPodsMade,     ///< all are.
  kPodsDoubled,  ///< A pod of the new attempt was there, without gate, before its place was free: must not be.
};
inline constexpr std::size_t kRestartSteps = static_cast<std::size_t>(RestartStep::kPodsDoubled) + 1;

[[nodiscard]] std::string_view name_of(RestartStep step);

/// How much has to be seen.
struct RestartExtent {
  std::string namespace_name;
  std::string resource_version;  ///< From when on.
  int attempt = 0;               ///< That ends.
  std::size_t jobs = 0;
  std::size_t pods = 0;
};

/// Watches the pods, Jobs and JobSets of one namespace. Thread-safe.
class RestartWatch {
 public:
  /// Errors: Unavailable.
  static Result<std::unique_ptr<RestartWatch>> start(const client::ClientConfig& config, RestartExtent extent);

  /// When the step was complete; waits for it. Errors: Timeout, saying how far it got.
  Result<Instant> wait(RestartStep step, Duration limit) const TPUSLICE_EXCLUDES(mutex_);
  /// Nothing for a step that was not (all) seen.
  [[nodiscard]] std::optional<Instant> at(RestartStep step) const TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Seen {
    std::set<std::string, std::less<>> names;
    std::size_t expected = 1;
    Instant last{};  ///< When the last of those expected was seen.
  };
  explicit RestartWatch(RestartExtent extent);
  void take_pod(std::string_view line, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void take_job(std::string_view line, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void take_jobset(std::string_view line, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void note(RestartStep step, std::string_view name, Instant now) TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] const Seen& of(RestartStep step) const TPUSLICE_REQUIRES(mutex_) {
    return seen_[static_cast<std::size_t>(step)];
  }

  const RestartExtent extent_;
  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  std::array<Seen, kRestartSteps> seen_ TPUSLICE_GUARDED_BY(mutex_);
  std::set<std::string, std::less<>> places_ TPUSLICE_GUARDED_BY(mutex_);  ///< Of old pods that are gone.
  std::vector<std::unique_ptr<WatchStream>> streams_;                      ///< End first.
};

}  // namespace tpuslice::bench
