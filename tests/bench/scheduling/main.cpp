// tpu-slice-scheduling-bench: see docs/performance.md.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tests/bench/figures.h"
#include "tests/bench/scheduling/report.h"
#include "tests/bench/scheduling/scheduling_bench.h"

namespace tpuslice::bench {
namespace {

constexpr int kUsageError = 2;
constexpr int kSkipped = 77;  ///< Exit status for skipped tests.
constexpr int kWarmUp = 10;   ///< Slices.
constexpr const char* kResultsPage = "docs/performance.md";

struct CommandLine {
  SchedulingOptions bench;
  std::vector<int> nodes = {1000, 5000, 15000};
  int runs = 3;
  int limit = 300;  ///< Seconds.
  std::vector<std::string> only;
  bool record = false;

  [[nodiscard]] std::vector<Method> methods() const {
    std::vector<Method> chosen;
    for (const Method method : kMethods) {
      if (only.empty() || std::find(only.begin(), only.end(), name_of(method)) != only.end()) chosen.push_back(method);
    }
    return chosen;
  }
};

Status measure_size(const CommandLine& line, int nodes, SizeMeasurements& out) {
  SchedulingOptions options = line.bench;
  options.nodes = nodes;
  ASSIGN_OR_RETURN(const auto bench, SchedulingBench::start(options));
  out.nodes = bench->nodes();
  out.running = bench->running();
  fmt::print(stderr, "{} nodes, created at {:.0f} a second; {} slices running\n", bench->nodes(),
             bench->nodes_per_second(), bench->running());
  const std::vector<Method> methods = line.methods();
  // Servers are slower just after their start.
  ASSIGN_OR_RETURN(const Round warm, bench->measure(methods.front(), std::min(kWarmUp, options.slices)));
  fmt::print(stderr, "{} nodes: warm-up: {}\n", bench->nodes(), outcome_of(warm));
  for (int run = 0; run < line.runs; ++run) {
    // The methods alternate in going first.
    for (std::size_t i = 0; i < methods.size(); ++i) {
      const Method method = methods[(i + static_cast<std::size_t>(run)) % methods.size()];
      ASSIGN_OR_RETURN(const Round round, bench->measure(method, options.slices));
      fmt::print(stderr, "{} nodes: run {}: {}: {}\n", bench->nodes(), run + 1, name_of(method), outcome_of(round));
      out.rounds[method].push_back(round);
    }
  }
  return {};
}

Result<int> run(const CommandLine& line) {
  SchedulingMeasurements measurements{line.runs, line.bench.slices, line.bench.limit, {}};
  for (const int nodes : line.nodes) {
    SizeMeasurements& size = measurements.sizes.emplace_back();
    const Status measured = measure_size(line, nodes, size);
    if (!measured && measured.error().code() == ErrorCode::kNotFound && measurements.sizes.size() == 1) {
      fmt::print(stderr, "{}\n", measured.error().message());
      return kSkipped;
    }
    if (!measured) {
      // Print what has been measured.
      if (size.rounds.empty()) measurements.sizes.pop_back();
      fmt::print("{}", to_table(measurements));
      return measured.error();
    }
  }
  const std::string table = to_table(measurements);
  fmt::print("{}", table);
  if (line.record) RETURN_IF_ERROR(record(kResultsPage, table));
  return 0;
}

void add_options(CLI::App& app, CommandLine& line) {
  app.add_option("--operator", line.bench.operator_program, "Path of the operator.")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--nodes", line.nodes, "Numbers of TPU nodes. Default: 1000,5000,15000")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--runs", line.runs, "Number of runs. Default: 3")->check(CLI::PositiveNumber);
  app.add_option("--slices", line.bench.slices, "Slices of 4 hosts in a round. Default: 200")
      ->check(CLI::PositiveNumber);
  app.add_option("--running", line.bench.running, "Slices that run before the round. Default: 100")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--only", line.only, "Methods to measure: affinity, gates, pins, placed, bound. Default: all.")
      ->delimiter(',')
      ->check(CLI::IsMember({"affinity", "gates", "pins", "placed", "bound"}));
  app.add_option("--limit", line.limit, "Time-out of a round in seconds. Default: 300")->check(CLI::PositiveNumber);
  app.add_flag("--keep", line.bench.keep_dir, "Keep the directories with all logs.");
  app.add_flag("--record", line.record, "Append the table to docs/performance.md.");
}

int main_with_result(int argc, char** argv) {
  CLI::App app("Measures how fast kube-scheduler binds the pods of slices, by how they are kept together.",
               "tpu-slice-scheduling-bench");
  CommandLine line;
  add_options(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  line.bench.limit = std::chrono::seconds(line.limit);
  const auto status = run(line);
  if (!status) {
    fmt::print(stderr, "tpu-slice-scheduling-bench: {}\n", status.error().message());
    return 1;
  }
  return *status;
}

}  // namespace
}  // namespace tpuslice::bench

int main(int argc, char** argv) { return tpuslice::bench::main_with_result(argc, argv); }
