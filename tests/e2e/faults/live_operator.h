// LiveOperator: the operator in this process, with its threads, on a real API server, with injected faults. Destroying
// it is a crash: requests in flight are not completed.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/client/client.h"
#include "cmd/tpu-slice-sim/cluster/fault_transport.h"
#include "controllers/raycluster/raycluster_kind.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::testing {

struct LiveOperatorOptions {
  std::string namespace_name;  ///< The namespace that it watches, so that several can run at a time.
  std::string log = {};        ///< Path; empty: no log.
  sim::Faults faults = {};
  runtime::WatchMachineOptions watch = {};
  client::ClientOptions client = {};
};

class LiveOperator {
 public:
  /// Starts. `server` outlives it.
  LiveOperator(http::Transport& server, const LiveOperatorOptions& options);
  ~LiveOperator();
  LiveOperator(const LiveOperator&) = delete;
  LiveOperator& operator=(const LiveOperator&) = delete;

  [[nodiscard]] bool dead() const { return faults_.dead(); }
  [[nodiscard]] std::int64_t writes() const { return faults_.writes(); }
  /// Its caches are synced.
  [[nodiscard]] bool ready() const { return manager_.ready(); }
  /// Number of watch requests.
  [[nodiscard]] std::int64_t watches() const;

 private:
  const RealClock clock_;
  Metrics metrics_;
  sim::FaultTransport faults_;
  client::Client client_;
  runtime::Manager manager_;
  std::jthread thread_;
};

}  // namespace tpuslice::testing
