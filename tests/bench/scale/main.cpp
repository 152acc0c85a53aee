// tpu-slice-scale-bench: see docs/performance.md.
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tests/bench/figures.h"
#include "tests/bench/scale/scale_bench.h"

namespace tpuslice::bench {
namespace {

constexpr int kUsageError = 2;
constexpr const char* kResultsPage = "docs/performance.md";

std::string to_table(const ScaleFigures& of) {
  std::string out = fmt::format("\n| {} pods of {} slices, {} nodes; {:.0f} slices placed, {:.0f} pods on nodes | |\n",
                                of.pods, of.slices, of.nodes, of.placed, of.bound);
  const auto row = [&](const char* name, double value, int digits) {
    out += fmt::format("| {} | {:.{}f} |\n", name, value, digits);
  };
  out += "|---|---|\n";
  row("created, pods/s", of.creation_rate, 0);
  row("operator, CPU-s per 1,000 pods, placement included", of.creation_cpu, 2);
  row("resident at most, MiB", of.creation_peak, 0);
  row("started again: ready after, s", of.ready_seconds, 1);
  row("CPU-s until at rest", of.start_cpu, 1);
  row("resident at most, MiB", of.start_peak, 0);
  row("resident at rest, MiB", of.resident, 0);
  row("at rest, % of a core", of.rest_cpu, 2);
  row("writes in 60 s", of.rest_writes, 0);
  row("node lost: slice of 64 torn down after the time-out, s", of.teardown_seconds, 1);
  row("API server started again: lists read", of.relists, 0);
  row("CPU-s until at rest", of.relist_cpu, 1);
  row("resident at most, MiB", of.relist_peak, 0);
  return out;
}

Status run(const ScaleOptions& options, bool save) {
  ASSIGN_OR_RETURN(const auto bench, ScaleBench::start(options));
  ASSIGN_OR_RETURN(const ScaleFigures figures, bench->measure());
  const std::string table = to_table(figures);
  fmt::print("{}", table);
  return save ? record(kResultsPage, table) : Status();
}

int main_with_result(int argc, char** argv) {
  CLI::App app("Measures the operator with 100,000 pods and 15,000 nodes.", "tpu-slice-scale-bench");
  ScaleOptions options;
  bool save = false;
  app.add_option("--operator", options.operator_program, "Path of the operator.")->required()->check(CLI::ExistingFile);
  app.add_option("--clusters", options.clusters, "RayClusters of 2,000 workers and 300 nodes. Default: 50")
      ->check(CLI::Range(1, 50));
  app.add_flag("--keep", options.keep_dir, "Keep the directory with all logs.");
  app.add_flag("--record", save, "Append the table to docs/performance.md.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  const Status measured = run(options, save);
  if (measured) return 0;
  fmt::print(stderr, "tpu-slice-scale-bench: {}\n", measured.error().message());
  return 1;
}

}  // namespace
}  // namespace tpuslice::bench

int main(int argc, char** argv) { return tpuslice::bench::main_with_result(argc, argv); }
