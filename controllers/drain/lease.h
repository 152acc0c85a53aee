// OperatorLease: makes sure that no operator acts during a drain.
//
// A running operator would place and tear down slices while their gates are removed, and its RayCluster and JobSet
// controllers would create pods and Jobs with the gate. So a drain first waits until the pods of the operator are gone,
// then acquires the operator's Lease and keeps it: a replica that starts meanwhile (a GitOps controller scales the
// Deployment up again) does not lead before the drain has ended.
#pragma once

#include <memory>
#include <stop_token>
#include <thread>

#include "api/base/random.h"
#include "controllers/runtime/leader_election.h"

namespace tpuslice::drain {

/// One thread creates and destroys it; left() is thread-safe.
class OperatorLease {
 public:
  /// Waits for at most `limit` for the pods, and again for the Lease. It should be longer than a lease lasts: a killed
  /// operator has not released it.
  ///
  /// Errors: Conflict with the pod that runs the operator, or with the holder of the Lease, and what to do; Cancelled.
  static Result<std::unique_ptr<OperatorLease>> acquire(runtime::ElectionOptions options, client::Reader& reader,
                                                        client::Writer& writer, const Clock& clock, Metrics& metrics,
                                                        const Logger& log, Duration limit, const std::stop_token& stop);
  /// Releases it.
  ~OperatorLease();
  OperatorLease(const OperatorLease&) = delete;
  OperatorLease& operator=(const OperatorLease&) = delete;

  /// The same as runtime::LeaderElector::lease_left().
  [[nodiscard]] Duration left() const { return elector_.lease_left(clock_.now()); }
  /// A stop is requested when the lease is lost.
  [[nodiscard]] std::stop_token lost() const { return lost_.get_token(); }

 private:
  OperatorLease(runtime::ElectionOptions options, client::Reader& reader, client::Writer& writer, const Clock& clock,
                Metrics& metrics, const Logger& log);
  [[nodiscard]] Status wait(Instant until, const std::stop_token& stop);

  const Clock& clock_;
  const std::string name_;  ///< "<namespace>/<name>"
  Random random_;
  runtime::LeaderElector elector_;
  std::stop_source lost_;
  std::jthread renewal_;
};

/// Waits until no pod of the operator is left, in any namespace; for at most ten seconds if one is not terminating.
/// Errors: Conflict naming one of them and what to do; those of the API server.
[[nodiscard]] Status wait_for_stopped_operator(client::Reader& reader, const Clock& clock, Duration limit,
                                               const std::stop_token& stop);

}  // namespace tpuslice::drain
