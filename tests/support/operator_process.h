// OperatorProcess: the operator as a child process of a test, on the cluster of a kubeconfig; and functions that
// install the files of deploy/ in that cluster.
//
//   ASSIGN_OR_RETURN(const std::string kubeconfig, install_operator(*plane));   // of its ServiceAccount
//   ASSIGN_OR_RETURN(const int port, free_port());
//   RETURN_IF_ERROR(register_webhook(plane->client(), port));
//   ASSIGN_OR_RETURN(const auto op, OperatorProcess::start({.kubeconfig = kubeconfig, .log = dir + "/operator.log",
//                                                           .webhook_port = port}));
//   ASSIGN_OR_RETURN(const double forbidden, op->metric("rest_client_requests_total", {{"code", "403"}}));
//   op->kill();
//   op->restart();
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/client/client.h"
#include "api/http/transport.h"
#include "api/types/json.h"
#include "tests/support/control_plane.h"
#include "tests/support/process.h"

namespace tpuslice::testing {

/// One line of /metrics.
struct MetricSample {
  std::string name;
  StringMap labels;
  double value = 0;
};

/// Errors: InvalidArgument naming the line.
[[nodiscard]] Result<std::vector<MetricSample>> parse_metrics(std::string_view text);

/// The sum of the samples with that name and these labels; 0 if there are none.
[[nodiscard]] double sum_of(const std::vector<MetricSample>& samples, std::string_view name,
                            const StringMap& labels = {});

struct OperatorProcessOptions {
  std::string kubeconfig;
  std::string log;                    ///< Each start appends to it; JSON lines.
  std::string program = {};           ///< Empty: tpu-slice-operator of this build.
  int webhook_port = 0;               ///< On 127.0.0.1; 0: without webhook.
  std::string webhook_cert_dir = {};  ///< Empty: the operator creates its certificate and patches the configurations.
  /// --metrics-secure; metrics() fails if it is true. Absent: not given, for versions without that flag.
  std::optional<bool> metrics_secure = false;
  bool leader_elect = true;  ///< As in deploy/operator.
  int shutdown_delay_seconds = 0;
  int node_timeout_seconds = 40;        ///< --node-not-ready-timeout, whose default is minutes.
  std::vector<std::string> flags = {};  ///< Additional flags.
  Duration ready_limit = std::chrono::seconds(30);
  bool wait_ready = true;  ///< start() waits until ready().
  /// ready() needs failurePolicy Fail, which the operator sets when the API server reaches it. With a webhook_cert_dir,
  /// or behind a load balancer that does not know the process yet, it may not be reached.
  bool wait_failure_policy = true;
};

/// Serves metrics and health on free ports of 127.0.0.1. Killed when destroyed. Used by one thread at a time.
class OperatorProcess {
 public:
  /// Errors: NotFound if the program does not exist; Unavailable or Timeout with the end of its log.
  static Result<std::unique_ptr<OperatorProcess>> start(OperatorProcessOptions options);

  /// Starts a new process with the same options, after kill() or stop(). Errors: as start().
  Status restart();
  /// SIGKILL; returns after its exit. Its Lease is not released.
  void kill();
  /// SIGTERM; waits for its exit. Errors: Timeout; Unavailable with the end of its log if the exit status is not 0.
  Status stop(Duration limit = std::chrono::seconds(20));
  void pause();   ///< SIGSTOP
  void resume();  ///< SIGCONT

  [[nodiscard]] bool running() const { return process_ && process_->running(); }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  /// 128 + signal if it was killed by a signal; std::nullopt while it runs.
  [[nodiscard]] std::optional<int> exit_code() const { return process_->exit_code(); }
  [[nodiscard]] const std::string& log() const { return options_.log; }
  [[nodiscard]] int health_port() const { return health_port_; }
  [[nodiscard]] int metrics_port() const { return metrics_port_; }
  /// Whether /readyz is ok, the stores are synced, and pods with TPUs are not admitted without the webhook.
  [[nodiscard]] bool ready();
  /// Waits until ready(). Errors: Timeout; Unavailable if it exited.
  Status wait_ready(Duration limit);

  /// Of the current process: counters start at 0 after a restart. Errors: Unavailable.
  [[nodiscard]] Result<std::vector<MetricSample>> metrics();
  /// sum_of() one reading of metrics().
  [[nodiscard]] Result<double> metric(std::string_view name, const StringMap& labels = {});
  /// User and system time. Errors, also of the next two: NotFound after its exit.
  [[nodiscard]] Result<double> cpu_seconds() const;
  [[nodiscard]] Result<double> resident_mib() const { return process_->resident_mib(); }
  [[nodiscard]] Result<double> peak_resident_mib() const { return process_->peak_resident_mib(); }

 private:
  explicit OperatorProcess(OperatorProcessOptions options) : options_(std::move(options)) {}

  Status launch();
  Status find_ports(Instant until);
  [[nodiscard]] Result<std::string> get(int port, const std::string& path);
  /// What ready() waits for.
  [[nodiscard]] Status check_ready();
  [[nodiscard]] Error exit_error() const;

  const OperatorProcessOptions options_;
  const RealClock clock_;
  std::size_t log_begin_ = 0;  ///< Offset of the current process in the log.
  int health_port_ = 0;
  int metrics_port_ = 0;
  std::unique_ptr<Process> process_;
};

/// The variable PATH of this process, preceded by the folder of this build's programs.
[[nodiscard]] std::string path_with_programs();

/// Applies deploy/crds, the namespace of deploy/operator, deploy/rbac and the admission policy of deploy/webhook.
/// Errors: of the API server, with file and line.
Status install_operator(client::Client& client);
/// The same; returns the path of a kubeconfig of the ServiceAccount, which has exactly the permissions of deploy/rbac.
Result<std::string> install_operator(ControlPlane& plane);

/// A webhook configuration in which the service of each webhook is replaced by the same path on 127.0.0.1:port.
[[nodiscard]] Object webhook_on_loopback(Object configuration, int port, const std::string& authority = {});

/// Creates or replaces both configurations of deploy/webhook, with the services replaced by 127.0.0.1:port. Must be
/// called before the operator starts, as ready() waits for it. `authority` (PEM) signed the certificate of an
/// operator with webhook_cert_dir; if it is empty, the operator sets its own.
Status register_webhook(client::Client& client, int port, const std::string& authority = {});

/// Whether pods with TPUs are refused while the webhook is not available: failurePolicy is Fail.
[[nodiscard]] bool fails_closed(client::Client& client);

/// Writes tls.crt and tls.key for 127.0.0.1 to `directory`, which it creates. Returns the authority that signed them.
Result<std::string> make_webhook_certificate(const std::string& directory);

/// A free port of 127.0.0.1 outside of the ephemeral range.
[[nodiscard]] Result<int> free_port();

}  // namespace tpuslice::testing
