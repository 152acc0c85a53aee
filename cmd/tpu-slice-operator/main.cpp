// tpu-slice-operator: reads its options, connects to the API server, runs the operator.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <random>

#include "api/base/stacks.h"
#include "api/client/config.h"
#include "api/client/credentials.h"
#include "api/client/metered_transport.h"
#include "api/http/client/network_transport.h"
#include "cmd/tpu-slice-operator/drain_command.h"
#include "cmd/tpu-slice-operator/operator.h"
#include "cmd/tpu-slice-operator/options.h"
#include "cmd/tpu-slice-operator/signals.h"
#include "controllers/runtime/memory.h"

namespace tpuslice {
namespace {

constexpr int kUsageError = 2;

/// Limit of one response, in bytes. A longer page of a list is asked for again with fewer objects. An object has at
/// most nine MiB unless etcd was given a higher limit: built-in ones are stored as protobuf, up to 1.5 MiB, and JSON
/// takes up to six times the bytes.
constexpr std::size_t kMaxResponse = 16U << 20U;

/// "<host>_<random>": unique even when two replicas share a host name.
std::string replica_identity() {
  std::array<char, 256> host{};
  const bool known = gethostname(host.data(), host.size() - 1) == 0;
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", known ? host.data() : "unknown", random(), random());
}

Result<Logger> make_logger(const OperatorOptions& options, const Clock& clock) {
  ASSIGN_OR_RETURN(const LogLevel level, parse_log_level(options.log_level));
  ASSIGN_OR_RETURN(const LogFormat format, parse_log_format(options.log_format));
  return Logger({.level = level, .format = format, .clock = &clock});
}

/// Clients of /metrics that are reviewed at the same time.
constexpr int kReviewsInFlight = 2;

/// The connection to the API server. The election and the reviews of clients of /metrics have connections of their own.
struct Connection {
  client::ClientConfig config;
  std::unique_ptr<http::Transport> transport;
  std::unique_ptr<http::Transport> election_transport;
  std::unique_ptr<http::Transport> review_transport;
};

Result<Connection> connect(const OperatorOptions& options, const Clock& clock, Metrics& metrics) {
  Connection connection;
  ASSIGN_OR_RETURN(connection.config, client::find_config(options.kubeconfig, options.context));
  ASSIGN_OR_RETURN(http::TransportOptions transport, client::transport_options(connection.config, clock));
  transport.max_parallel = options.kube_api_max_in_flight;
  transport.max_response = kMaxResponse;
  transport.metrics = &metrics;
  transport.client_name = "controllers";
  ASSIGN_OR_RETURN(connection.transport, http::make_network_transport(transport));
  transport.client_name = "election";
  ASSIGN_OR_RETURN(connection.election_transport, http::make_network_transport(transport));
  transport.client_name = "reviews";
  transport.max_parallel = kReviewsInFlight;
  ASSIGN_OR_RETURN(connection.review_transport, http::make_network_transport(transport));
  return connection;
}

Status run(const OperatorOptions& options, StopOnSignal& signals) {
  const RealClock clock;
  ASSIGN_OR_RETURN(const Logger log, make_logger(options, clock));
  Metrics metrics;
  ASSIGN_OR_RETURN(const Connection connection, connect(options, clock, metrics));
  const client::ClientConfig& config = connection.config;

  client::MeteredTransport metered(*connection.transport, metrics, clock, config.server, log);
  client::MeteredTransport metered_election(*connection.election_transport, metrics, clock, config.server);
  client::MeteredTransport metered_reviews(*connection.review_transport, metrics, clock, config.server);
  ASSIGN_OR_RETURN(
      const auto program,
      Operator::start(options, {.api = metered,
                                .election_api = metered_election,
                                .clock = clock,
                                .metrics = metrics,
                                .log = log,
                                .identity = replica_identity(),
                                .namespace_name = config.namespace_name,
                                .send_to_workload = runtime::send_over_network(options.ray_dashboard_address),
                                .review_api = &metered_reviews}));
  log.info("started", {{"version", TPUSLICE_VERSION}, {"server", config.server}});
  program->run(signals.token());
  log.info("stopped");
  return {};
}

/// True if nothing is left that the operator holds.
Result<bool> drain_cluster(const CommandLine& command_line, StopOnSignal& signals) {
  const OperatorOptions& options = command_line.options;
  const RealClock clock;
  ASSIGN_OR_RETURN(const Logger log, make_logger(options, clock));
  Metrics metrics;
  ASSIGN_OR_RETURN(const Connection connection, connect(options, clock, metrics));
  client::MeteredTransport metered(*connection.transport, metrics, clock, connection.config.server);
  ASSIGN_OR_RETURN(const drain::Report report, drain::run_drain(options, command_line.dry_run,
                                                                {.api = metered,
                                                                 .election_api = *connection.election_transport,
                                                                 .clock = clock,
                                                                 .metrics = metrics,
                                                                 .log = log,
                                                                 .identity = replica_identity(),
                                                                 .namespace_name = connection.config.namespace_name},
                                                                signals.token()));
  log.debug("drained", {{"metrics", metrics.scrape()}});
  fmt::print("{}", report.to_string());
  return report.complete();
}

/// The exit code of --drain.
int drain_with_result(const CommandLine& command_line, StopOnSignal& signals) {
  const Result<bool> complete = drain_cluster(command_line, signals);
  if (!complete) fmt::print(stderr, "tpu-slice-operator: {}\n", complete.error().message());
  return complete && *complete ? 0 : 1;
}

int main_with_result(int argc, const char* const* argv) {
  report_crashes();
  forbid_core_dumps();
  runtime::configure_allocator();  // Before the first thread.
  const auto command_line = parse_command_line(argc, argv);
  if (!command_line) {
    fmt::print(stderr, "tpu-slice-operator: {}\n", command_line.error().message());
    return kUsageError;
  }
  if (!command_line->output.empty()) {
    fmt::print("{}", command_line->output);
    return 0;
  }
  StopOnSignal signals;
  if (command_line->drain) return drain_with_result(*command_line, signals);
  if (const Status ended = run(command_line->options, signals); !ended) {
    fmt::print(stderr, "tpu-slice-operator: {}\n", ended.error().message());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace tpuslice

int main(int argc, char** argv) { return tpuslice::main_with_result(argc, argv); }
