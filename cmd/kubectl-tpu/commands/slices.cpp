// kubectl tpu slices: the slices of all kinds of workloads, where they run and why they wait.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/base/strings.h"
#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/fleet_output.h"
#include "fleet/fleet_json.h"
#include "fleet/tables/tables.h"

namespace tpuslice::plugin {
namespace {

struct SlicesOptions {
  FleetSource source;
  bool all = false;
  bool waiting = false;
};

/// The slice to ask about next.
void suggest_next(const Context& context, const std::vector<fleet::FleetSlice>& slices) {
  const auto waiting = std::ranges::find(slices, fleet::SliceState::kWaiting, &fleet::FleetSlice::state);
  const fleet::FleetSlice& next = waiting == slices.end() ? slices.front() : *waiting;
  if (next.workload.hidden()) return;
  context.suggest(fmt::format("explain {}/{} -n {}", to_lower(next.workload.kind), next.workload.name,
                              next.workload.namespace_name));
}

Result<ExitCode> print_slices(Context& context, const SlicesOptions& options) {
  ASSIGN_OR_RETURN(const std::string namespace_name, namespace_of_question(context, options.source));
  ASSIGN_OR_RETURN(const ReadFleet read, read_fleet(context, options.source));
  fleet::Fleet fleet = fleet::build_fleet(read.snapshot);
  std::erase_if(fleet.slices, [&](const fleet::FleetSlice& slice) {
    if (options.waiting && slice.state != fleet::SliceState::kWaiting) return true;
    return !namespace_name.empty() && slice.workload.namespace_name != namespace_name;
  });
  note_refusal(context, read);
  if (context.format() == Format::kName) {
    for (const fleet::FleetSlice& slice : fleet.slices) context.print(fmt::format("slice/{}\n", slice.key));
    return ExitCode::kYes;
  }
  if (!context.is_table()) {
    Json document = {{"schema", fleet::kFleetSchema}, {"slices", Json::array()}};
    for (const fleet::FleetSlice& slice : fleet.slices) document["slices"].push_back(fleet::write_slice(slice));
    context.print_document(document);
    return ExitCode::kYes;
  }
  if (fleet.slices.empty()) {
    context.note(fmt::format("No slices{}{}.", options.waiting ? " wait" : "",
                             namespace_name.empty() ? "" : " in namespace " + namespace_name));
    return ExitCode::kYes;
  }
  fleet::TableOptions tables = table_options(context, options.all);
  tables.show_namespace = namespace_name.empty();
  print_rows(context, fleet::slices_table(fleet.slices, fleet.time, tables));
  suggest_next(context, fleet.slices);
  return ExitCode::kYes;
}

}  // namespace

void add_slices(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<SlicesOptions>();
  CLI::App& command = commands.add(app, "slices", "List slices: where they run, or why they wait and behind whom",
                                   [options](Context& context) { return print_slices(context, *options); });
  add_source_options(command, options->source);
  command.add_flag("--all", options->all, "Show all rows, not only the first 50");
  command.add_flag("--waiting", options->waiting, "Only slices that wait");
}

}  // namespace tpuslice::plugin
