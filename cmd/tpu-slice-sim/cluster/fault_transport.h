// FaultTransport: a Transport that counts requests and injects faults.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/base/mutex.h"
#include "api/http/transport.h"

namespace tpuslice::sim {

/// Faults. `every` = k fails the k-th, 2k-th, ... request of its type; 0: none.
struct Faults {
  /// The client is killed at its n-th write: that response and everything later is lost. 0: never.
  std::int64_t die_at_write = 0;
  bool die_before_server = false;                    ///< The write does not reach the server either.
  int drop_reply_every = 0;                          ///< Writes that succeed, but whose response is lost.
  int conflict_every = 0;                            ///< Updates, patches and deletes answered with 409 Conflict.
  int too_many_every = 0;                            ///< Requests answered with 429 and Retry-After: 1.
  int error_every = 0;                               ///< Requests answered with 500.
  int unreachable_every = 0;                         ///< Requests that never reach the server.
  int gone_every = 0;                                ///< Watches from a resourceVersion answered with HTTP 410.
  int cut_watch_every = 0;                           ///< Reads with data after which the watch stream breaks.
  Duration delay_watch{};                            ///< Events arrive this late by the clock.
  std::function<bool(const http::Request&)> only{};  ///< Requests that may fail; all if empty.
};

/// Thread-safe. Requests for leases neither fail nor count as writes: reconciling is tested, not the election.
class FaultTransport final : public http::Transport {
 public:
  /// Borrows both.
  FaultTransport(http::Transport& inner, const Clock& clock, Faults faults = {});

  void set_faults(Faults faults) TPUSLICE_EXCLUDES(mutex_);
  /// All requests fail from now on, and open streams break.
  void die() { state_->dead.store(true); }
  [[nodiscard]] bool dead() const { return state_->dead.load(); }

  /// Requests by verb and resource: {"create pods": 5, "watch rayclusters.ray.io": 1}.
  [[nodiscard]] std::map<std::string, std::int64_t> counts() const TPUSLICE_EXCLUDES(mutex_);
  /// Creates, updates, patches and deletes, without leases.
  [[nodiscard]] std::int64_t writes() const TPUSLICE_EXCLUDES(mutex_);

  [[nodiscard]] Result<http::Response> call(const http::Request& request, Duration deadline,
                                            std::stop_token stop) override;
  [[nodiscard]] Result<std::unique_ptr<http::Stream>> open(const http::Request& request, Duration deadline,
                                                           std::stop_token stop) override;

  /// Outlives the transport, for its streams.
  struct State {
    std::atomic<bool> dead{false};
    std::atomic<std::int64_t> watch_reads{0};
  };

 private:
  enum class Verdict { kPass, kUnreachable, kDieBefore, kDieAfter, kDropReply, kConflict, kTooMany, kError, kGone };

  Verdict judge(const http::Request& request, bool watch) TPUSLICE_EXCLUDES(mutex_);
  Verdict judge_write(const std::string& verb) TPUSLICE_REQUIRES(mutex_);

  http::Transport& inner_;
  const Clock& clock_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  mutable Mutex mutex_;
  Faults faults_ TPUSLICE_GUARDED_BY(mutex_);
  std::map<std::string, std::int64_t> counts_ TPUSLICE_GUARDED_BY(mutex_);
  std::int64_t requests_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::int64_t writes_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::int64_t changes_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::int64_t watches_ TPUSLICE_GUARDED_BY(mutex_) = 0;
};

/// Verb and resource of a request: "create pods", "patch rayclusters.ray.io/status", "list nodes".
[[nodiscard]] std::string describe_request(const http::Request& request);

}  // namespace tpuslice::sim
