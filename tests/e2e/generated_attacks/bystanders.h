// Bystanders: other tenants, whose admissions and whose JobSets are timed while attacks run.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "tests/e2e/attacks/attack_plane.h"

namespace tpuslice::testing {

struct BystanderFigures {
  std::vector<double> admissions;  ///< Milliseconds of each dry-run creation of a TPU pod by the API server.
  int refused = 0;                 ///< Admissions and reviews that failed, or have no answer within kAnswerLimit.
  /// As `admissions`, of a ConfigMap, for which no webhook is called: what the API server takes by itself.
  std::vector<double> controls;
  std::vector<double> reviews;    ///< Milliseconds of each review of a TPU pod sent to the webhook.
  std::vector<double> reactions;  ///< Milliseconds from the creation of a JobSet to that of its Job.
  int ignored = 0;                ///< JobSets that had no Job within kReactionLimit.
  std::string first_failure;
};

inline constexpr Duration kAnswerLimit = std::chrono::seconds(10);
inline constexpr Duration kReactionLimit = std::chrono::seconds(30);

/// Its threads run until destruction. Thread-safe.
class Bystanders {
 public:
  /// Creates the namespace "quiet". `plane` outlives it. Errors: of the API server.
  static Result<std::unique_ptr<Bystanders>> start(AttackPlane& plane);

  /// Since the last call.
  [[nodiscard]] BystanderFigures take() TPUSLICE_EXCLUDES(mutex_);
  /// While the operator is restarted by the test, nothing counts.
  void pause() { ++pauses_; }
  void resume() { ++pauses_; }

 private:
  explicit Bystanders(AttackPlane& plane) : plane_(plane), client_(plane.plane().client()) {}

  void admit(const std::stop_token& stop);
  /// Creates a ConfigMap as a dry run.
  void admit_control(const std::stop_token& stop);
  void review(const std::stop_token& stop);
  void react(const std::stop_token& stop);
  /// Whether the JobSet had its Job in time.
  bool create_and_wait(int number, const std::stop_token& stop, Duration& took);
  /// Whether the time since `before`, a value of pauses_, counts.
  [[nodiscard]] bool counts(int before) const { return before == pauses_ && before % 2 == 0; }
  void set_asked(std::optional<Instant> time) TPUSLICE_EXCLUDES(mutex_);
  void fail(int BystanderFigures::*counter, const std::string& message) TPUSLICE_EXCLUDES(mutex_);

  AttackPlane& plane_;
  client::Client& client_;
  const RealClock clock_;
  std::atomic<int> pauses_ = 0;  ///< Odd during one.
  Mutex mutex_;
  BystanderFigures figures_ TPUSLICE_GUARDED_BY(mutex_);
  std::optional<Instant> asked_ TPUSLICE_GUARDED_BY(mutex_);  ///< When a review began that has no answer yet.
  std::vector<std::jthread> threads_;
};

}  // namespace tpuslice::testing
