// kubectl tpu plan: what a manifest would create, and whether its slices fit.
#include <memory>

#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/fleet_output.h"
#include "cmd/kubectl-tpu/rehearsal.h"
#include "fleet/answers/plan.h"
#include "fleet/tables/texts.h"

namespace tpuslice::plugin {
namespace {

struct PlanOptions {
  FleetSource source;
  std::vector<std::string> files;
  bool all = false;
  bool env = false;
};

Result<ExitCode> print_plan(Context& context, const PlanOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<Json> objects, read_manifests(options.files));
  ASSIGN_OR_RETURN(const std::string namespace_name, namespace_of_manifest(context, options.source));
  ASSIGN_OR_RETURN(const fleet::Snapshot snapshot, read_whole_fleet(context, options.source));
  ASSIGN_OR_RETURN(const Rehearsed rehearsed,
                   rehearse(objects, {namespace_name, snapshot.topology_key, snapshot.options.topology_keys}));
  if (!rehearsed.refusal.empty()) {
    context.note("refused: " + rehearsed.refusal);
    return ExitCode::kRefused;
  }
  const fleet::ManifestPlan plan = fleet::plan_of_objects(snapshot, rehearsed.created);
  if (context.is_table()) {
    context.print(fleet::plan_text(plan, table_options(context, options.all), options.env));
    context.suggest_command("kubectl apply -f " + options.files.front());
  } else {
    context.print_document(fleet::write_plan(plan));
  }
  return exit_code_of(plan.answer);
}

}  // namespace

void add_plan(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App& command =
      commands.add(app, "plan",
                   "Show what a manifest would create and whether its slices fit. Exit code 3: not now, "
                   "4: not as the cluster is, 5: it is refused",
                   [options](Context& context) { return print_plan(context, *options); });
  command.add_option("-f,--filename", options->files, "Manifest; several can be given")->required();
  command.add_option("--nodes,--snapshot", options->source.snapshot,
                     "Compare with the nodes of a file instead of the cluster, as `kubectl get nodes -o yaml` prints "
                     "them");
  command.add_option("--pools", options->source.pools,
                     "Compare with these node pools instead of the cluster, or besides those of --nodes: 'v6e 4x4 x3'");
  command.add_flag("--env", options->env, "Show all variables of each host");
  command.add_flag("--all", options->all, "Show all rows, not only the first 50");
}

}  // namespace tpuslice::plugin
