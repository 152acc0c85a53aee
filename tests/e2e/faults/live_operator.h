// LiveOperator: the operator in this process, with its threads, on a real API server, behind a transport that can be
// broken. Its destruction is its death: nothing it had begun is finished.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/client/client.h"
#include "api/sim/cluster/fault_transport.h"
#include "controllers/raycluster/raycluster_controller.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::testing {

struct LiveOperatorOptions {
  std::string namespace_name;  ///< The only one it looks at, so that several run side by side.
  std::string log = {};        ///< A file; empty: nowhere.
  sim::Faults faults = {};
  runtime::WatchMachineOptions watch = {};
  client::ClientOptions client = {};
};

class LiveOperator {
 public:
  /// Runs from now on. `server` outlives it.
  LiveOperator(http::Transport& server, const LiveOperatorOptions& options);
  ~LiveOperator();
  LiveOperator(const LiveOperator&) = delete;
  LiveOperator& operator=(const LiveOperator&) = delete;

  [[nodiscard]] bool dead() const { return faults_.dead(); }
  [[nodiscard]] std::int64_t writes() const { return faults_.writes(); }
  /// Its caches are synced.
  [[nodiscard]] bool ready() const { return manager_.ready(); }
  /// Watches opened, or tried to.
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
