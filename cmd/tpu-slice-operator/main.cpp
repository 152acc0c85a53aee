// tpu-slice-operator: reads its options, connects to the API server, runs the operator.
#include <unistd.h>

#include <cstdio>
#include <random>

#include "api/client/config.h"
#include "api/client/credentials.h"
#include "api/client/metered_transport.h"
#include "api/http/client/io_threads.h"
#include "api/http/client/network_transport.h"
#include "cmd/tpu-slice-operator/operator.h"
#include "cmd/tpu-slice-operator/options.h"
#include "cmd/tpu-slice-operator/signals.h"

namespace tpuslice {
namespace {

constexpr int kUsageError = 2;

/// Bytes. A longer page of a list is asked for again with fewer objects; no single object is as long.
constexpr std::size_t kMaxResponse = 8U << 20U;

/// "<host>_<random>": unique even when two replicas share a host name.
std::string replica_identity() {
  char host[256] = "unknown";
  gethostname(host, sizeof(host) - 1);
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", host, random(), random());
}

Status run(const OperatorOptions& options, StopOnSignal& signals) {
  const RealClock clock;
  ASSIGN_OR_RETURN(const LogLevel level, parse_log_level(options.log_level));
  ASSIGN_OR_RETURN(const LogFormat format, parse_log_format(options.log_format));
  const Logger log({.level = level, .format = format, .clock = &clock});

  const auto io = http::start_io();
  ASSIGN_OR_RETURN(const client::ClientConfig config, client::find_config(options.kubeconfig, options.context));
  ASSIGN_OR_RETURN(http::TransportOptions transport_options, client::transport_options(config, clock));
  transport_options.max_parallel = options.kube_api_max_in_flight;
  transport_options.max_response = kMaxResponse;
  ASSIGN_OR_RETURN(const auto transport, http::make_network_transport(transport_options));
  ASSIGN_OR_RETURN(const auto election_transport, http::make_network_transport(transport_options));

  Metrics metrics;
  client::MeteredTransport metered(*transport, metrics, clock, config.server);
  ASSIGN_OR_RETURN(
      const auto program,
      Operator::start(options, {.api = metered,
                                .election_api = *election_transport,
                                .clock = clock,
                                .metrics = metrics,
                                .log = log,
                                .identity = replica_identity(),
                                .namespace_name = config.namespace_name,
                                .send_to_workload = runtime::send_over_network(options.ray_dashboard_address)}));
  log.info("started", {{"version", TPUSLICE_VERSION}, {"server", config.server}});
  const Status ended = program->run(signals.token());
  log.info("stopped");
  return ended;
}

int main_with_result(int argc, const char* const* argv) {
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
  if (const Status ended = run(command_line->options, signals); !ended) {
    fmt::print(stderr, "tpu-slice-operator: {}\n", ended.error().message());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace tpuslice

int main(int argc, char** argv) { return tpuslice::main_with_result(argc, argv); }
