// AdmissionLoad: TPU pods are created at a fixed rate.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "api/base/mutex.h"
#include "api/base/pause.h"
#include "api/client/client.h"
#include "tests/support/pods.h"

namespace tpuslice::testing {

/// Dry-run creations of TPU pods at a fixed rate from several threads, until destruction.
class AdmissionLoad {
 public:
  static constexpr int kThreads = 8;
  static constexpr int kPerSecond = 200;

  AdmissionLoad(client::Client& client, const Json& pod) {
    for (int thread = 0; thread < kThreads; ++thread) {
      threads_.emplace_back([this, &client, pod](const std::stop_token& stop) { run(client, pod, stop); });
    }
  }
  /// Ends the threads.
  void stop() { threads_.clear(); }
  [[nodiscard]] int admitted() const { return admitted_; }
  [[nodiscard]] int failed() const { return failed_; }
  /// Empty without one.
  [[nodiscard]] std::string first_failure() TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return first_failure_;
  }

 private:
  void run(client::Client& client, const Json& pod, const std::stop_token& stop) {
    const RealClock clock;
    constexpr Duration kGap = std::chrono::microseconds(1'000'000) * kThreads / kPerSecond;
    Instant next = clock.now();
    while (!stop.stop_requested()) {
      const auto created = client.create(kPods, Object(pod), {.dry_run = true});
      const bool right = created.ok() && tpu::testing::env_value(created->json(), "TPU_WORKER_ID") == "0";
      ++(right ? admitted_ : failed_);
      if (!right) note_failure(created.ok() ? "the pod was not mutated" : created.error().message());
      next += kGap;
      const Instant now = clock.now();
      if (next > now) tpuslice::pause(next - now, stop);
    }
  }

  void note_failure(const std::string& message) TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (first_failure_.empty()) first_failure_ = message;
  }

  Mutex mutex_;
  std::string first_failure_ TPUSLICE_GUARDED_BY(mutex_);
  std::atomic<int> admitted_ = 0;
  std::atomic<int> failed_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace tpuslice::testing
