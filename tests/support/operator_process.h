// OperatorProcess: the real program beside a test, against any cluster a kubeconfig leads to; and what a cluster has to
// be given before it, taken from deploy/ as it is shipped.
//
//   ASSIGN_OR_RETURN(const std::string kubeconfig, install_operator(*plane));   // its ServiceAccount, and nothing more
//   ASSIGN_OR_RETURN(const int port, free_port());
//   RETURN_IF_ERROR(register_webhook(plane->client(), port));
//   ASSIGN_OR_RETURN(const auto op, OperatorProcess::start({.kubeconfig = kubeconfig, .log = dir + "/operator.log",
//                                                           .webhook_port = port}));
//   ASSIGN_OR_RETURN(const double forbidden, op->metric("rest_client_requests_total", {{"code", "403"}}));
//   op->kill();
//   op->start_again();
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

/// The sum over the samples of that name that have all of these labels; 0 if there are none.
[[nodiscard]] double sum_of(const std::vector<MetricSample>& samples, std::string_view name,
                            const StringMap& labels = {});

struct OperatorProcessOptions {
  std::string kubeconfig;
  std::string log;                      ///< Added to at each start; JSON lines.
  std::string program = {};             ///< Empty: tpu-slice-operator of this build.
  int webhook_port = 0;                 ///< On 127.0.0.1; 0: without webhook.
  std::string webhook_cert_dir = {};    ///< Empty: it makes its own certificate, and patches the configurations.
  bool leader_elect = true;             ///< As deploy/operator has it.
  std::vector<std::string> flags = {};  ///< Added to ours.
  Duration ready_limit = std::chrono::seconds(30);
  bool wait_ready = true;  ///< Return only when /readyz says ok.
};

/// Metrics and health are served on free ports of 127.0.0.1. Ends with this object (SIGKILL). From one thread at a
/// time.
class OperatorProcess {
 public:
  /// Errors: NotFound without the program; Unavailable or Timeout with the end of its log.
  static Result<std::unique_ptr<OperatorProcess>> start(OperatorProcessOptions options);

  /// A new process with the same options, after kill() or stop(). Errors: as start().
  Status start_again();
  /// SIGKILL; returns when it is gone. Its Lease stays.
  void kill();
  /// SIGTERM; waits for its end. Errors: Timeout; Unavailable if it did not end with 0, with the end of its log.
  Status stop(Duration limit = std::chrono::seconds(10));
  void pause();   ///< SIGSTOP
  void resume();  ///< SIGCONT

  [[nodiscard]] bool running() const { return process_ && process_->running(); }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  [[nodiscard]] const std::string& log() const { return options_.log; }
  /// Whether /readyz says ok.
  [[nodiscard]] bool ready();
  /// Until ready(). Errors: Timeout; Unavailable once it has ended.
  Status wait_ready(Duration limit);

  /// Of this process: a restart begins at 0. Errors: Unavailable.
  [[nodiscard]] Result<std::vector<MetricSample>> metrics();
  /// sum_of() one reading of metrics().
  [[nodiscard]] Result<double> metric(std::string_view name, const StringMap& labels = {});
  /// User and system time of this process. Errors: NotFound when it is gone, as for the two below.
  [[nodiscard]] Result<double> cpu_seconds() const;
  [[nodiscard]] Result<double> resident_mib() const;
  [[nodiscard]] Result<double> peak_resident_mib() const;

 private:
  explicit OperatorProcess(OperatorProcessOptions options) : options_(std::move(options)) {}

  Status launch();
  Status find_ports(Instant until);
  [[nodiscard]] Result<std::string> get(int port, const std::string& path);
  [[nodiscard]] Error ended() const;
  [[nodiscard]] Result<double> status_mib(std::string_view field) const;

  const OperatorProcessOptions options_;
  const RealClock clock_;
  std::size_t log_begin_ = 0;  ///< Where the log of this process begins.
  int health_port_ = 0;
  int metrics_port_ = 0;
  std::unique_ptr<Process> process_;
};

/// Applies deploy/crds, the namespace of deploy/operator and deploy/rbac. Errors: those of the API server, naming file
/// and line.
Status install_operator(client::Client& client);
/// The same, and the path of a kubeconfig of the ServiceAccount: an operator with it may do exactly what deploy/ says.
Result<std::string> install_operator(ControlPlane& plane);

/// Makes both configurations of deploy/webhook, or makes them anew, with the services replaced by 127.0.0.1:port.
/// To be called before the operator starts: it looks at them once a minute. `authority` (PEM) is what signed the
/// certificate of an operator with webhook_cert_dir; without, the operator fills in its own.
Status register_webhook(client::Client& client, int port, const std::string& authority = {});

/// tls.crt and tls.key for 127.0.0.1 in `directory`, which is made. Returns the authority that signed them.
Result<std::string> make_webhook_certificate(const std::string& directory);

/// A port of 127.0.0.1 that is free now and that no outgoing connection takes.
[[nodiscard]] Result<int> free_port();

}  // namespace tpuslice::testing
