#include "cmd/tpu-slice-operator/drain_command.h"

#include <memory>
#include <optional>
#include <ranges>

#include "cmd/tpu-slice-operator/kinds.h"
#include "controllers/drain/lease.h"
#include "controllers/runtime/fenced_writer.h"

namespace tpuslice::drain {
namespace {

/// Less than the time for which a lease is renewed.
constexpr Duration kLeaseRequest = std::chrono::seconds(4);
/// The lease of a killed operator lasts 15 s; a pod ends within its grace period of 30 s.
constexpr Duration kOperatorStops = std::chrono::seconds(45);

}  // namespace

std::vector<FinalizerKind> finalizer_kinds(const OperatorOptions& options) {
  std::vector<FinalizerKind> all;
  // Owners first: a RayJob or RayService that is being deleted deletes its RayClusters.
  for (const kind::Kind* each : std::views::reverse(kinds())) {
    if (each->finalizer.name.empty() || !options.enables(each->controller)) continue;
    all.push_back({each->type, each->finalizer.name, each->finalizer.keep_on_terminating});
  }
  return all;
}

Result<Report> run_drain(const OperatorOptions& options, bool dry_run, const Dependencies& dependencies,
                         const std::stop_token& stop) {
  client::Client api(dependencies.api);
  client::Client election_api(dependencies.election_api, {.deadline = kLeaseRequest});
  const auto in_flight = static_cast<std::size_t>(options.kube_api_max_in_flight);
  runtime::ThreadPool threads(in_flight);

  Options drain;
  drain.steps.dry_run = dry_run;
  drain.steps.max_in_flight = in_flight;
  drain.namespace_name =
      options.leader_election_namespace.empty() ? dependencies.namespace_name : options.leader_election_namespace;
  drain.watch_namespaces = options.watch_namespaces;
  drain.finalizers = finalizer_kinds(options);

  std::unique_ptr<OperatorLease> lease;
  if (!dry_run) {
    ASSIGN_OR_RETURN(lease, OperatorLease::acquire({.namespace_name = drain.namespace_name,
                                                    .name = options.leader_election_id,
                                                    .identity = dependencies.identity},
                                                   election_api, election_api, dependencies.clock, dependencies.metrics,
                                                   dependencies.log, kOperatorStops, stop));
  }
  runtime::FencedWriter writer(api, [&] { return lease ? std::optional(lease->left()) : std::nullopt; });
  std::stop_source ends;
  const std::stop_callback on_stop(stop, [&] { ends.request_stop(); });
  const std::stop_token lost = lease ? lease->lost() : std::stop_token();
  const std::stop_callback on_lost(lost, [&] { ends.request_stop(); });
  return Drain({api, writer, threads, dependencies.clock, dependencies.log}, drain).run(ends.get_token());
}

}  // namespace tpuslice::drain
