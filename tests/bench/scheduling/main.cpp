// tpu-slice-scheduling-bench: see docs/performance.md.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/http/io_threads.h"
#include "tests/bench/figures.h"
#include "tests/bench/scheduling/report.h"
#include "tests/bench/scheduling/scheduling_bench.h"

namespace tpuslice::bench {
namespace {

constexpr int kUsageError = 2;
constexpr int kMissing = 77;  ///< What test runners take for "skipped".
constexpr int kWarmUp = 10;   ///< Slices.
constexpr const char* kPage = "docs/performance.md";

struct CommandLine {
  SchedulingOptions bench;
  std::vector<int> nodes = {1000, 5000, 15000};
  int runs = 3;
  int limit = 300;  ///< Seconds.
  std::vector<std::string> only;
  bool record = false;

  [[nodiscard]] std::vector<Way> ways() const {
    std::vector<Way> chosen;
    for (const Way way : kWays) {
      if (only.empty() || std::find(only.begin(), only.end(), name_of(way)) != only.end()) chosen.push_back(way);
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
  fmt::print(stderr, "{} nodes, made at {:.0f} a second; {} slices running\n", bench->nodes(),
             bench->nodes_per_second(), bench->running());
  const std::vector<Way> ways = line.ways();
  // Servers that have just started are slower than ever after.
  ASSIGN_OR_RETURN(const Round warm, bench->measure(ways.front(), std::min(kWarmUp, options.slices)));
  fmt::print(stderr, "{} nodes: warm-up: {}\n", bench->nodes(), outcome_of(warm));
  for (int run = 0; run < line.runs; ++run) {
    // None is always the first.
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const Way way = ways[(i + static_cast<std::size_t>(run)) % ways.size()];
      ASSIGN_OR_RETURN(const Round round, bench->measure(way, options.slices));
      fmt::print(stderr, "{} nodes: run {}: {}: {}\n", bench->nodes(), run + 1, name_of(way), outcome_of(round));
      out.rounds[way].push_back(round);
    }
  }
  return {};
}

Result<int> run(const CommandLine& line) {
  const auto io = http::start_io();
  SchedulingMeasurements measurements{line.runs, line.bench.slices, line.bench.limit, {}};
  for (const int nodes : line.nodes) {
    SizeMeasurements& size = measurements.sizes.emplace_back();
    const Status measured = measure_size(line, nodes, size);
    if (!measured && measured.error().code() == ErrorCode::kNotFound && measurements.sizes.size() == 1) {
      fmt::print(stderr, "{}\n", measured.error().message());
      return kMissing;
    }
    if (!measured) {
      // What took long to measure is not lost.
      if (size.rounds.empty()) measurements.sizes.pop_back();
      fmt::print("{}", to_table(measurements));
      return measured.error();
    }
  }
  const std::string table = to_table(measurements);
  fmt::print("{}", table);
  if (line.record) RETURN_IF_ERROR(record(kPage, table));
  return 0;
}

void add_options(CLI::App& app, CommandLine& line) {
  app.add_option("--operator", line.bench.operator_program, "The operator's program.")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--nodes", line.nodes, "TPU nodes, one or more numbers. Default: 1000,5000,15000")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--runs", line.runs, "How often everything is measured. Default: 3")->check(CLI::PositiveNumber);
  app.add_option("--slices", line.bench.slices, "Slices of 4 hosts in a round. Default: 200")
      ->check(CLI::PositiveNumber);
  app.add_option("--running", line.bench.running, "Slices that have nodes before the round. Default: 100")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--only", line.only, "What keeps slices together: affinity, gates, pins. Default: all.")
      ->delimiter(',')
      ->check(CLI::IsMember({"affinity", "gates", "pins"}));
  app.add_option("--limit", line.limit, "Seconds after which a round is given up. Default: 300")
      ->check(CLI::PositiveNumber);
  app.add_flag("--keep", line.bench.keep_dir, "Leave the directories with all logs behind.");
  app.add_flag("--record", line.record, "Append the table to docs/performance.md.");
}

int main_with_result(int argc, char** argv) {
  CLI::App app("Measures how fast a real kube-scheduler binds the pods of slices, by what keeps these together.",
               "tpu-slice-scheduling-bench");
  CommandLine line;
  add_options(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  line.bench.limit = std::chrono::seconds(line.limit);
  const auto ended = run(line);
  if (!ended) {
    fmt::print(stderr, "tpu-slice-scheduling-bench: {}\n", ended.error().message());
    return 1;
  }
  return *ended;
}

}  // namespace
}  // namespace tpuslice::bench

int main(int argc, char** argv) { return tpuslice::bench::main_with_result(argc, argv); }
