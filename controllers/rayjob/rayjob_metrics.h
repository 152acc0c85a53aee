// KubeRay's metrics of RayJobs, which its dashboards and alerts use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/base/series_writer.h"
#include "api/types/views.h"

namespace tpuslice::rayjob {

/// Durations of the attempts of RayJobs that were retried: a status has only those of the current one. Like KubeRay's,
/// they are those that this process has seen. Thread-safe.
class RetriedAttempts {
 public:
  struct Attempt {
    std::int64_t retries = 0;  ///< Attempts before it.
    double seconds = 0;
  };
  /// The last attempts of a RayJob that are kept.
  static constexpr std::size_t kMaxAttempts = 10;

  /// `clock` outlives it.
  explicit RetriedAttempts(const Clock& clock) : clock_(clock) {}

  /// A listener of the store of RayJobs.
  void changed(const std::shared_ptr<const ObjectView>& before, const std::shared_ptr<const ObjectView>& after)
      TPUSLICE_EXCLUDES(mutex_);
  /// Those of the RayJob with the uid, by time.
  [[nodiscard]] std::vector<Attempt> of(const std::string& uid) const TPUSLICE_EXCLUDES(mutex_);

 private:
  const Clock& clock_;
  mutable Mutex mutex_;
  std::unordered_map<std::string, std::vector<Attempt>> attempts_ TPUSLICE_GUARDED_BY(mutex_);  ///< By uid.
};

/// Writes kuberay_job_info, kuberay_job_deployment_status and kuberay_job_execution_duration_seconds, as the status of
/// each RayJob has them; the last also of `retried`.
void write_metrics(const std::vector<std::shared_ptr<const ObjectView>>& jobs, const RetriedAttempts& retried,
                   SeriesWriter& out);

}  // namespace tpuslice::rayjob
