// kubectl tpu session: the dashboard of a workload's Ray cluster on a port of this machine.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/kubectl.h"
#include "cmd/kubectl-tpu/workload_pods.h"

namespace tpuslice::plugin {
namespace {

constexpr int kDashboardPort = 8265;  ///< Ray's default.

struct SessionOptions {
  std::string workload;
  int port = kDashboardPort;
  bool print_only = false;
};

/// The port of the dashboard in the service of a Ray head; Ray's default if the service does not name it.
int dashboard_port_of(const Json& service) {
  for (const Json& port : array_at(service, {"spec", "ports"})) {
    if (string_at(port, {"name"}) == "dashboard") return static_cast<int>(int_at(port, {"port"}, kDashboardPort));
  }
  return kDashboardPort;
}

/// The service of the head of RayCluster `name`.
Result<Object> head_service(Context& context, const ObjectKey& cluster) {
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  ASSIGN_OR_RETURN(const ResourceType type, workload_type_of("raycluster"));
  ASSIGN_OR_RETURN(const Object object, api->get(type, cluster, context.stop()));
  const std::string fallback = cluster.name + "-head-svc";
  const std::string service = string_at(object.json(), {"status", "head", "serviceName"}, fallback);
  return api->get(kServices, {cluster.namespace_name, service.empty() ? fallback : service}, context.stop());
}

Result<ExitCode> open_session(Context& context, const SessionOptions& options) {
  ASSIGN_OR_RETURN(const Workload workload, find_workload(context, options.workload));
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  ASSIGN_OR_RETURN(const std::vector<PodOwner> owners, pod_owners_of(*api, workload, context.stop()));
  const std::string namespace_name = workload.object.namespace_name();
  if (owners.empty()) return Error::not_found("{}: it has no Ray cluster yet", workload.name());
  if (owners.front().kind != "RayCluster") {
    return Error::invalid_argument("{}: only workloads of Ray have a dashboard", workload.name());
  }
  ASSIGN_OR_RETURN(const Object service, head_service(context, {namespace_name, owners.front().name}));
  std::vector<std::string> command = kubectl_command(context.options(), "port-forward");
  command.insert(command.end(), {"-n", namespace_name, "--address=127.0.0.1", "service/" + service.name(),
                                 fmt::format("{}:{}", options.port, dashboard_port_of(service.json()))});
  context.print(fmt::format("http://127.0.0.1:{}\n", options.port));
  context.out().flush();
  if (options.print_only) {
    context.suggest_command(fmt::format("{}", fmt::join(command, " ")));
    return ExitCode::kYes;
  }
  context.note(fmt::format("Ray dashboard of {}, until you press Ctrl-C.", workload.name()));
  if (!context.surroundings().run) return Error::unsupported("no program can be run here");
  ASSIGN_OR_RETURN(const int code, context.surroundings().run(command, context.stop()));
  if (code == 0 || context.stop().stop_requested()) return ExitCode::kYes;
  return Error::unavailable("kubectl port-forward ended with exit code {}", code);
}

}  // namespace

void add_session(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<SessionOptions>();
  CLI::App& command = commands.add(app, "session", "Forward a port of this machine to the Ray dashboard of a workload",
                                   [options](Context& context) { return open_session(context, *options); });
  command.add_option("workload", options->workload, "raycluster/NAME, rayjob/NAME or rayservice/NAME")->required();
  command.add_option("--port", options->port, "Port of this machine. Default: 8265")->check(CLI::Range(1, 65535));
  command.add_flag("--print", options->print_only, "Print the URL and the kubectl command, and forward nothing");
}

}  // namespace tpuslice::plugin
