// Simulator: a cluster, its API server on HTTPS, and an operator in it, all running in real time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/client/config.h"
#include "cmd/tpu-slice-operator/operator.h"
#include "cmd/tpu-slice-sim/admission/webhooks.h"
#include "cmd/tpu-slice-sim/cluster/cluster.h"
#include "cmd/tpu-slice-sim/cluster/timeline.h"
#include "cmd/tpu-slice-sim/options.h"
#include "cmd/tpu-slice-sim/ray/dashboards.h"
#include "cmd/tpu-slice-sim/ray_pods.h"
#include "cmd/tpu-slice-sim/report/verdict.h"
#include "cmd/tpu-slice-sim/server/https_listener.h"
#include "cmd/tpu-slice-sim/webhook_connections.h"

namespace tpuslice {

/// Runs from start() until it is destroyed.
class Simulator {
 public:
  /// Called with each line of the timeline, on the simulator's thread.
  using Print = std::function<void(const std::string& line)>;

  /// Errors: InvalidArgument for the node pools or the address; Unavailable if the address cannot be bound.
  static Result<std::unique_ptr<Simulator>> start(const SimOptions& options, Print print);
  ~Simulator();

  /// Waits until the operator's caches are synced and its webhook is registered. Errors: Timeout;
  /// Cancelled; the error with which the operator stopped.
  Status wait_ready(Duration limit, const std::stop_token& stop);
  /// Applies every document of the manifest at `path`, as `kubectl apply --server-side` does, and the items of lists
  /// (saved_manifests()).
  ///
  /// Errors: InvalidArgument with path and line for a malformed manifest; errors of the API server.
  Status apply(const std::string& path, const std::stop_token& stop);
  /// Waits until the timeline has no new lines for a while, and the operator has said of each slice that waits why.
  /// Errors: Timeout; Cancelled.
  Status wait_settled(Duration limit, const std::stop_token& stop);
  [[nodiscard]] Verdict verdict() { return judge(cluster_.storage().list("pods")); }

  [[nodiscard]] std::string kubeconfig() const { return listener_->kubeconfig(); }
  /// Restarts the API server as a real one: connections and watches break; afterwards, at the same address, watches
  /// from before get 410. The cluster and the operator continue meanwhile.
  void stop_api_server();
  Status start_api_server();
  /// A kubeconfig for the operator's service account.
  [[nodiscard]] Result<std::string> operator_kubeconfig() const;
  [[nodiscard]] const std::string& server() const { return admin_.server; }

 private:
  Simulator(sim::ClusterOptions options, Print print, bool verbose);
  Status install_assets();
  Status listen(const std::string& address);
  Status start_operator(const SimOptions& options);
  /// `where`: its place, for errors.
  Status apply_object(client::Client& api, const Object& object, const std::string& where, const std::stop_token& stop);
  void drive(const std::stop_token& stop);

  const RealClock clock_;
  const Print print_;
  const bool verbose_;
  sim::Cluster cluster_;
  sim::RayDashboards dashboards_;
  RayPods ray_pods_;
  bool own_operator_ = false;  ///< Set before the driver's thread starts.
  WebhookConnections webhook_connections_;
  sim::WebhookAdmission webhooks_;
  std::unique_ptr<sim::HttpsListener> listener_;
  client::ClientConfig admin_;

  Metrics metrics_;
  std::unique_ptr<http::Transport> api_transport_;
  std::unique_ptr<http::Transport> election_transport_;
  std::unique_ptr<Operator> operator_;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  Instant last_change_ TPUSLICE_GUARDED_BY(mutex_);
  bool operator_ended_ TPUSLICE_GUARDED_BY(mutex_) = false;

  std::jthread driver_;
  std::jthread operator_thread_;
};

}  // namespace tpuslice
