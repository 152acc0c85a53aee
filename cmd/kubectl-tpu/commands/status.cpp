// kubectl tpu status: pools and chips of each shape, who waits, and what needs someone.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/fleet_output.h"
#include "fleet/answers/status.h"
#include "fleet/fleet_json.h"
#include "fleet/tables/tables.h"

namespace tpuslice::plugin {
namespace {

struct StatusOptions {
  FleetSource source;
  bool all = false;
};

/// "prod, operator 0.1.0, 2 of 2 ready, Kubernetes v1.36.3, 06:52 UTC"
std::string heading(const fleet::Fleet& fleet) {
  const fleet::ClusterInfo& cluster = fleet.cluster;
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!cluster.name.empty()) add(cluster.name);
  if (!cluster.operator_version.empty()) add("operator " + cluster.operator_version);
  if (cluster.replicas > 0) add(fmt::format("{} of {} ready", cluster.ready, cluster.replicas));
  if (!cluster.kubernetes.empty()) add("Kubernetes " + cluster.kubernetes);
  add(fleet::clock_text(fleet.time, fleet.time) + " UTC");
  return text;
}

Result<ExitCode> print_status(Context& context, const StatusOptions& options) {
  ASSIGN_OR_RETURN(const fleet::Snapshot snapshot, read_whole_fleet(context, options.source));
  const fleet::Fleet fleet = fleet::build_fleet(snapshot);
  const bool is_fine = fleet.attention.empty() && !fleet.pools.empty();
  const ExitCode code = is_fine ? ExitCode::kYes : ExitCode::kNever;
  if (!context.is_table()) {
    context.print_document(fleet::write_fleet(fleet));
    return code;
  }
  if (fleet.pools.empty()) context.print("The cluster has no TPU nodes.\n");
  if (fleet.pools.empty() && fleet.slices.empty()) {
    context.suggest("plan -f <manifest> --pools 'v6e 4x4 x2'");
    return code;
  }
  const fleet::TableOptions tables = table_options(context, options.all);
  context.print(printable(heading(fleet)) + "\n\n");
  print_rows(context, fleet::status_table(fleet::status_of(fleet), fleet.time, tables));
  if (fleet.attention.empty()) {
    if (!is_fine) return code;
    context.print("\nNothing needs anyone.\n");
    context.suggest("pools");
    return code;
  }
  context.print(fmt::format("\n{} need{} someone\n",
                            fleet.attention.size() == 1 ? "1 thing" : fmt::format("{} things", fleet.attention.size()),
                            fleet.attention.size() == 1 ? "s" : ""));
  const fleet::Rows rows = fleet::attention_table(fleet.attention, tables);
  context.print(to_text(rows.table, false));
  if (rows.more > 0) context.note(fleet::more_text(rows.more));
  return code;
}

}  // namespace

void add_status(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<StatusOptions>();
  CLI::App& command =
      commands.add(app, "status", "Show pools and chips in use, and what needs someone. Exit code 4: something does",
                   [options](Context& context) { return print_status(context, *options); });
  add_source_options(command, options->source);
  command.add_flag("--all", options->all, "Show all rows, not only the first 50");
}

}  // namespace tpuslice::plugin
