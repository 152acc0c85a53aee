// kubectl tpu hosts: the pods of a workload's slices, host by host.
#include "cmd/kubectl-tpu/hosts.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/kubectl.h"
#include "cmd/kubectl-tpu/pod_logs.h"
#include "cmd/kubectl-tpu/workload_pods.h"

namespace tpuslice::plugin {
namespace {

constexpr std::size_t kMaxServices = 5'000;

struct HostsOptions {
  std::string workload;
  bool check = false;
  bool exec = false;
};

/// At most so many hosts are asked: each is a run of kubectl.
constexpr std::size_t kMaxAsked = 256;

/// Looks up the names of all hosts in a container of each host that runs.
Status look_up_peers(const Context& context, const std::vector<Object>& pods, std::vector<Host>& hosts) {
  if (!context.surroundings().capture) return Error::unsupported("no program can be run here");
  if (pods.size() > kMaxAsked) {
    return Error::invalid_argument("--exec: {} hosts, at most {} are asked", pods.size(), kMaxAsked);
  }
  for (std::size_t i = 0; i < pods.size() && !context.stop().stop_requested(); ++i) {
    if (hosts[i].phase != "Running" || !hosts[i].check || !hosts[i].check->ok_when_ready()) continue;
    std::vector<std::string> command = kubectl_command(context.options(), "exec");
    command.insert(command.end(), {"-n", pods[i].namespace_name(), pods[i].name(), "-c", container_of(pods[i], {}),
                                   "--", "sh", "-c", lookup_script()});
    const Result<std::string> output = context.surroundings().capture(command);
    hosts[i].check->peers = output ? peers_of_lookup(*output) : output.error().message();
  }
  return {};
}

void print_hosts(const Context& context, const std::vector<Host>& hosts) {
  if (!context.is_table()) {
    if (context.format() != Format::kName) return context.print_document(hosts_document(hosts));
    for (const Host& host : hosts) context.print(fmt::format("pod/{}\n", host.pod));
    return;
  }
  context.print_table(hosts_table(hosts, context.now()));
}

/// The command that shows more of what is wrong.
void suggest_next(const Context& context, const Workload& workload, const std::vector<Host>& hosts) {
  const std::string name = workload.name() + " -n " + workload.object.namespace_name();
  const auto failed =
      std::ranges::find_if(hosts, [](const Host& host) { return host.last_exit && host.last_exit->code != 0; });
  if (failed != hosts.end()) {
    context.suggest(fmt::format("logs {} --host {}", name, failed->index));
  } else if (std::ranges::any_of(hosts, [](const Host& host) { return !host.ready; })) {
    context.suggest("explain " + name);
  } else if (std::ranges::none_of(hosts, [](const Host& host) { return host.check.has_value(); })) {
    context.suggest(fmt::format("hosts {} --check", name));
  } else {
    context.suggest("logs " + name);
  }
}

Result<ExitCode> print_hosts_of(Context& context, const HostsOptions& options) {
  ASSIGN_OR_RETURN(const Workload workload, find_workload(context, options.workload));
  ASSIGN_OR_RETURN(const std::vector<Object> pods, slice_pods_of(context, workload));
  std::vector<Host> hosts = read_hosts(pods);
  if (hosts.empty() && context.is_table()) {
    context.note(fmt::format("{} has no pods of slices.", workload.name()));
    context.suggest(fmt::format("explain {} -n {}", workload.name(), workload.object.namespace_name()));
    return ExitCode::kNotNow;
  }
  if (options.check || options.exec) {
    ASSIGN_OR_RETURN(client::Client* const api, context.api());
    ASSIGN_OR_RETURN(
        const std::vector<Object> services,
        list_all(*api, kServices, {.namespace_name = workload.object.namespace_name()}, kMaxServices, context.stop()));
    check_hosts(pods, services, hosts);
    if (options.exec) RETURN_IF_ERROR(look_up_peers(context, pods, hosts));
  }
  print_hosts(context, hosts);
  suggest_next(context, workload, hosts);
  if (std::ranges::any_of(hosts, [](const Host& host) { return host.check && !host.check->ok_when_ready(); })) {
    return ExitCode::kNever;
  }
  const bool all_ready = std::ranges::all_of(hosts, [](const Host& host) { return host.ready; });
  return all_ready ? ExitCode::kYes : ExitCode::kNotNow;
}

}  // namespace

void add_hosts(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<HostsOptions>();
  CLI::App& command = commands.add(app, "hosts", "List the hosts of a workload's slices",
                                   [options](Context& context) { return print_hosts_of(context, *options); });
  command.add_option("workload", options->workload, "KIND/NAME, e.g. rayjob/train")->required();
  command.add_flag("--check", options->check,
                   "Check worker ids, host names and the service that resolves them, by the pods' specs. Exit code 4: "
                   "something is wrong");
  command.add_flag("--exec", options->exec,
                   "The same, and look up the names of all hosts in a container of each, by kubectl exec");
}

}  // namespace tpuslice::plugin
