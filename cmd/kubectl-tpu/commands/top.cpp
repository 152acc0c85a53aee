// kubectl tpu top: the status of the fleet, drawn again and again.
#include <chrono>
#include <memory>

#include <CLI/CLI.hpp>

#include "api/base/pause.h"
#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/fleet_output.h"
#include "fleet/answers/status.h"
#include "fleet/tables/tables.h"

namespace tpuslice::plugin {
namespace {

constexpr int kMaxInterval = 3600;                         ///< Seconds.
constexpr std::string_view kClearScreen = "\x1b[H\x1b[J";  ///< Cursor to the first line; all behind it is erased.

struct TopOptions {
  FleetSource source;
  int interval = 5;  ///< Seconds.
  int rounds = 0;    ///< 0: until interrupted.
};

std::string screen_of(const fleet::Fleet& fleet, const fleet::TableOptions& options) {
  fleet::Fleet waiting = fleet;
  std::erase_if(waiting.slices,
                [](const fleet::FleetSlice& slice) { return slice.state != fleet::SliceState::kWaiting; });
  std::string out = fleet::clock_text(fleet.time, fleet.time) + " UTC\n\n";
  out += to_text(fleet::status_table(fleet::status_of(fleet), fleet.time, options).table);
  out += "\n" + to_text(fleet::pools_table(fleet.pools, fleet.time, options).table);
  if (!waiting.slices.empty()) {
    out += "\n" + to_text(fleet::slices_table(waiting.slices, fleet.time, options).table);
  }
  if (!fleet.attention.empty()) out += "\n" + to_text(fleet::attention_table(fleet.attention, options).table, false);
  return out;
}

Result<ExitCode> run_top(Context& context, const TopOptions& options) {
  const fleet::TableOptions tables = table_options(context, false);
  for (int round = 0; options.rounds == 0 || round < options.rounds; ++round) {
    if (round > 0) pause(std::chrono::seconds(options.interval), context.stop());
    if (context.stop().stop_requested()) break;
    auto read = read_fleet(context, options.source);
    if (read.ok() && read->refusal) read = *std::move(read->refusal);
    if (!read.ok() && round == 0) return read.error();
    if (!read.ok()) {  // The next request may succeed.
      context.note(read.error().message());
      continue;
    }
    if (round == 0 && !read->assumed.empty()) context.note(read->assumed);
    const std::string screen = screen_of(fleet::build_fleet(read->snapshot), tables);
    if (context.surroundings().terminal) context.print(kClearScreen);
    context.print(screen);
    context.out().flush();
    if (!context.out()) break;  // The output was closed.
  }
  return ExitCode::kYes;
}

}  // namespace

void add_top(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<TopOptions>();
  CLI::App& command = commands.add(app, "top", "Show status, pools and waiting slices, again every few seconds",
                                   [options](Context& context) { return run_top(context, *options); });
  add_source_options(command, options->source);
  command.add_option("--interval", options->interval, "Seconds between two reads. Default: 5")
      ->check(CLI::Range(1, kMaxInterval));
  command.add_option("--rounds", options->rounds, "End after so many. Default: 0, which is never")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace tpuslice::plugin
