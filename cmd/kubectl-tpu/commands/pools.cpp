// kubectl tpu pools: the node pools with TPUs, their hosts and who uses them.
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

struct PoolsOptions {
  FleetSource source;
  bool all = false;
  std::string state;  ///< In lower case; empty: all.
  std::string tpu;    ///< "v6e" or "v6e-4x4"; empty: all.
};

bool is_wanted(const fleet::Pool& pool, const PoolsOptions& options) {
  if (!options.state.empty() && to_lower(fleet::to_string(pool.state)) != options.state) return false;
  return options.tpu.empty() || options.tpu == pool.tpu || options.tpu == pool.tpu + "-" + pool.topology ||
         options.tpu == pool.tpu + " " + pool.topology;
}

Result<ExitCode> print_pools(Context& context, const PoolsOptions& options) {
  ASSIGN_OR_RETURN(const fleet::Snapshot snapshot, read_whole_fleet(context, options.source));
  fleet::Fleet fleet = fleet::build_fleet(snapshot);
  std::erase_if(fleet.pools, [&](const fleet::Pool& pool) { return !is_wanted(pool, options); });
  if (context.format() == Format::kName) {
    for (const fleet::Pool& pool : fleet.pools) context.print(fmt::format("pool/{}\n", pool.name));
    return ExitCode::kYes;
  }
  if (!context.is_table()) {
    Json document = {{"schema", fleet::kFleetSchema}, {"pools", Json::array()}};
    for (const fleet::Pool& pool : fleet.pools) document["pools"].push_back(fleet::write_pool(pool));
    context.print_document(document);
    return ExitCode::kYes;
  }
  if (fleet.pools.empty()) {
    context.note("No such node pools with TPUs.");
    return ExitCode::kYes;
  }
  print_rows(context, fleet::pools_table(fleet.pools, fleet.time, table_options(context, options.all)));
  const auto problem = std::ranges::find_if(fleet.pools, [](const fleet::Pool& pool) { return !pool.problem.empty(); });
  context.suggest("explain pool/" + (problem == fleet.pools.end() ? fleet.pools.front().name : problem->name));
  return ExitCode::kYes;
}

}  // namespace

void add_pools(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<PoolsOptions>();
  CLI::App& command = commands.add(app, "pools", "List the node pools with TPUs and who uses them",
                                   [options](Context& context) { return print_pools(context, *options); });
  add_source_options(command, options->source);
  command.add_flag("--all", options->all, "Show all rows, not only the first 50");
  command.add_option("--state", options->state, "Only pools in this state")
      ->check(CLI::IsMember({"inuse", "free", "reserved", "broken", "draining", "partial"}));
  command.add_option("--tpu", options->tpu, "Only pools of this TPU: v6e, or v6e-4x4");
}

}  // namespace tpuslice::plugin
