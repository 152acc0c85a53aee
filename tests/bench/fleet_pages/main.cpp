// tpu-slice-fleet-pages-bench: see docs/performance.md.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tests/bench/figures.h"
#include "tests/bench/fleet_pages/fleet_pages_bench.h"

namespace tpuslice::bench {
namespace {

constexpr int kUsageError = 2;

template <typename Answer>
std::string spread_of(const std::vector<Answer>& answers, double Answer::*member, double unit, int digits) {
  std::vector<double> values;
  for (const Answer& each : answers) values.push_back(each.*member / unit);
  return spread(values, digits);
}

void print(const FleetPagesFigures& of) {
  fmt::print("|  | figure |\n|---|---|\n");
  const auto row = [](const char* name, const std::string& value) { fmt::print("| {} | {} |\n", name, value); };
  row("served, the fleet is read for it, ms", spread_of(of.first, &ServedAnswer::milliseconds, 1, 0));
  row("served, within the interval, ms", spread_of(of.later, &ServedAnswer::milliseconds, 1, 0));
  row("served, KB of gzip", spread_of(of.later, &ServedAnswer::bytes, 1000, 0));
  row("direct, s", spread_of(of.direct, &DirectAnswer::seconds, 1, 1));
  row("direct, CPU seconds", spread_of(of.direct, &DirectAnswer::cpu_seconds, 1, 1));
  row("direct, resident at most, MiB", spread_of(of.direct, &DirectAnswer::peak, 1, 0));
  row("operator, resident before, MiB", fmt::format("{:.0f}", of.resident));
  row("operator, resident while watched, MiB", fmt::format("{:.0f}", of.resident_watched));
  row("operator, % of a core", fmt::format("{:.1f}", of.cpu_unwatched));
  row("operator, % of a core while watched", fmt::format("{:.1f}", of.cpu_watched));
}

Status run(const FleetPagesOptions& options) {
  ASSIGN_OR_RETURN(const auto bench, FleetPagesBench::start(options));
  ASSIGN_OR_RETURN(const FleetPagesFigures figures, bench->measure());
  print(figures);
  return {};
}

int main_with_result(int argc, char** argv) {
  CLI::App app("Measures answers about a large fleet.", "tpu-slice-fleet-pages-bench");
  FleetPagesOptions options;
  app.add_option("--operator", options.operator_program, "Path of the operator.")->required()->check(CLI::ExistingFile);
  app.add_option("--plugin", options.plugin, "Path of kubectl-tpu.")->required()->check(CLI::ExistingFile);
  app.add_option("--nodes", options.fleet.nodes, "Nodes with TPUs. Default: 15,000");
  app.add_option("--running", options.fleet.running, "Slices of 4 hosts that run. Default: 2,000");
  app.add_option("--waiting", options.fleet.waiting, "Slices that wait. Default: 500");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  const Status measured = run(options);
  if (measured) return 0;
  fmt::print(stderr, "tpu-slice-fleet-pages-bench: {}\n", measured.error().message());
  return 1;
}

}  // namespace
}  // namespace tpuslice::bench

int main(int argc, char** argv) { return tpuslice::bench::main_with_result(argc, argv); }
