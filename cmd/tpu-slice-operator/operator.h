// Operator: all parts of the program, wired. Used by main() and by the simulator.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/base/mutex.h"
#include "api/client/client.h"
#include "api/http/server/server.h"
#include "api/http/transport.h"
#include "cmd/tpu-slice-operator/fleet_pages.h"
#include "cmd/tpu-slice-operator/fleet_source.h"
#include "cmd/tpu-slice-operator/health.h"
#include "cmd/tpu-slice-operator/metrics_server.h"
#include "cmd/tpu-slice-operator/options.h"
#include "cmd/tpu-slice-operator/process_metrics.h"
#include "cmd/tpu-slice-operator/resource_access.h"
#include "cmd/tpu-slice-operator/upstream_metrics.h"
#include "controllers/placement/fleet_metrics.h"
#include "controllers/runtime/manager.h"
#include "webhook/webhook_server.h"

namespace tpuslice {

/// Dependencies of an operator; borrowed, they outlive it.
struct OperatorDependencies {
  http::Transport& api;
  /// Connections of its own: a busy API client must not delay the renewal of the lease.
  http::Transport& election_api;
  const Clock& clock;
  Metrics& metrics;
  Logger log;
  std::string identity;        ///< Unique among the replicas: "<host>_<random>".
  std::string namespace_name;  ///< Namespace of the operator itself: where its Lease and its certificate are.
  runtime::SendToWorkload send_to_workload;  ///< To the dashboards of Ray clusters.
  /// For reviews of clients of /metrics, which must not wait for the controllers' requests. Null: `api`.
  http::Transport* review_api = nullptr;
};

/// start(), then run() once.
class Operator {
 public:
  /// Binds the listening sockets. Errors: InvalidArgument or Unavailable for an address; InvalidArgument or NotFound
  /// for certificate files.
  static Result<std::unique_ptr<Operator>> start(const OperatorOptions& options, OperatorDependencies dependencies);
  ~Operator();
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  /// Until `stop`. Then: ready() is false, controllers finish and release the lease, and the webhook serves until
  /// OperatorOptions::shutdown_delay_seconds have passed. A replica that loses its lease serves the webhook as before.
  void run(const std::stop_token& stop);

  /// Port of the webhook; 0 without one.
  [[nodiscard]] std::uint16_t webhook_port() const { return webhook_ ? webhook_->port() : std::uint16_t{0}; }
  /// The webhook can serve, and stop was not requested. The stores may not be synced yet.
  [[nodiscard]] bool ready() const { return !shutting_down_ && (!webhook_ || webhook_->ready()); }
  /// The stores are synced, or their CRDs are not installed.
  [[nodiscard]] bool synced() const { return manager_.ready(); }

 private:
  Operator(const OperatorOptions& options, OperatorDependencies dependencies);
  Status start_webhook(const OperatorOptions& options);
  Status start_health_server(const OperatorOptions& options);
  void add_slice_controllers(const OperatorOptions& options);
  /// After start_webhook(), whose certificate it may share.
  Status start_metrics_server(const OperatorOptions& options);
  /// Returns when it was called first; from any thread.
  Instant begin_shutdown() TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<HealthEndpoint> health_endpoints() const;
  /// Appends to a scrape what is computed for it.
  void append_metrics(std::string& text) const;

  OperatorDependencies dependencies_;
  client::Client api_;
  client::Client election_api_;
  client::Client review_api_;
  const ProcessMetrics process_metrics_;
  runtime::Manager manager_;
  const Duration shutdown_delay_;
  std::atomic<bool> shutting_down_ = false;
  Mutex mutex_;
  std::optional<Instant> shutdown_began_ TPUSLICE_GUARDED_BY(mutex_);
  std::vector<UpstreamMetrics> upstream_metrics_;  ///< Empty if they are turned off.
  // Null without the slice controllers.
  std::unique_ptr<placement::FleetMetrics> fleet_metrics_;
  std::unique_ptr<FleetSource> fleet_source_;
  ResourceAccess resource_access_;
  std::unique_ptr<FleetPages> fleet_pages_;
  std::unique_ptr<webhook::WebhookServer> webhook_;
  std::unique_ptr<http::Server> health_server_;
  std::unique_ptr<MetricsServer> metrics_server_;
};

}  // namespace tpuslice
