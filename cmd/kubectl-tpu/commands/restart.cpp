// kubectl tpu restart: restarts slices of a workload by evicting a pod of each.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/base/strings.h"
#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/evict.h"
#include "cmd/kubectl-tpu/workload_pods.h"
#include "tpu/labels.h"

namespace tpuslice::plugin {
namespace {

struct RestartOptions {
  std::string workload;
  std::string slice;
  bool force = false;
  bool dry_run = false;
};

/// Whether the user means `slice` by `text`: its name, or the number at its end.
bool is_slice(const std::string& slice, const std::string& text) {
  return text.empty() || slice == text || (parse_count(text) && slice.ends_with("-" + text));
}

int hosts_of_largest(const std::vector<Object>& pods) {
  int most = 1;
  for (const Object& pod : pods) most = std::max(most, parse_count(pod.annotation(tpu::kSliceHosts)).value_or(1));
  return most;
}

Result<ExitCode> restart_slices(Context& context, const RestartOptions& options) {
  ASSIGN_OR_RETURN(const Workload workload, find_workload(context, options.workload));
  ASSIGN_OR_RETURN(const std::vector<Object> all, slice_pods_of(context, workload));
  std::vector<Object> pods = one_pod_of_each_slice(all);
  std::erase_if(pods, [&](const Object& pod) { return !is_slice(slice_name_of(pod), options.slice); });
  if (pods.empty())
    return Error::not_found("{}: no live slice{} to restart", workload.name(),
                            options.slice.empty() ? "" : " " + options.slice);
  const RestartCost cost = restart_cost(workload.type.kind, workload.object.json(), hosts_of_largest(pods));
  context.print(
      fmt::format("Restarts {} of {}. Cost: {}.\n",
                  pods.size() == 1 ? "slice " + slice_name_of(pods.front()) : fmt::format("{} slices", pods.size()),
                  workload.name(), cost.text));
  const std::string where = workload.name() + " -n " + workload.object.namespace_name();
  if (cost.fails && !options.force && !options.dry_run) {
    context.note(fmt::format("Not done: {} would fail. --force restarts it nevertheless.", workload.name()));
    context.suggest_command(fmt::format("kubectl patch {} --type=merge -p '{{\"spec\":{{\"suspend\":true}}}}'", where));
    return ExitCode::kRefused;
  }
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  for (const Object& pod : pods) {
    const Status evicted = evict(*api, pod, options.dry_run, context.stop());
    if (!evicted && evicted.error().code() == ErrorCode::kTooManyRequests) {
      context.note(evicted.error().message());
      context.suggest("restart " + where);
      return ExitCode::kNotNow;
    }
    if (!evicted) return evicted.error();
    context.print(fmt::format("pod/{} evicted{}\n", pod.name(), options.dry_run ? " (dry run)" : ""));
  }
  context.suggest("hosts " + where);
  return ExitCode::kYes;
}

}  // namespace

void add_restart(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<RestartOptions>();
  CLI::App& command = commands.add(app, "restart", "Restart slices: evict one pod of each",
                                   [options](Context& context) { return restart_slices(context, *options); });
  command.add_option("workload", options->workload, "KIND/NAME, e.g. raycluster/train")->required();
  command.add_option("--slice", options->slice, "Name or number of one slice. Default: all");
  command.add_flag("--force", options->force, "Also if the workload would fail of it");
  command.add_flag("--dry-run", options->dry_run, "Print what would be done, and change nothing");
}

}  // namespace tpuslice::plugin
