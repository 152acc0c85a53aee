// tpu-slice-healing-bench: see docs/performance.md.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tests/bench/figures.h"
#include "tests/bench/healing/healing_bench.h"

namespace tpuslice::bench {
namespace {

constexpr int kUsageError = 2;
constexpr const char* kResultsPage = "docs/performance.md";

struct CommandLine {
  HealingOptions bench;
  int turns = 3;
  int rounds = 10;
  bool record = false;
};

struct Figures {
  std::vector<double> milliseconds;
  std::vector<double> replaced;
};

using Measurements = std::map<Healer, Figures>;

Status measure_turn(const CommandLine& line, Healer healer, Figures& out) {
  ASSIGN_OR_RETURN(const auto bench, HealingBench::start(line.bench, healer));
  // Servers are slower just after their start.
  for (int round = -1; round < line.rounds; ++round) {
    ASSIGN_OR_RETURN(const Healed healed, bench->heal(round + 1));
    fmt::print(stderr, "  {}: {:.0f} ms, {} pods replaced\n", name_of(healer), 1000 * healed.seconds, healed.replaced);
    if (round < 0) continue;
    out.milliseconds.push_back(1000 * healed.seconds);
    out.replaced.push_back(static_cast<double>(healed.replaced));
  }
  return {};
}

std::string to_table(const CommandLine& line, const Measurements& measurements) {
  std::string out = fmt::format(
      "\n| one pod of a slice of {} hosts fails; replaced by | failures | pods replaced | all pods Ready after, ms | "
      "of by hand |\n|---|---|---|---|---|\n",
      line.bench.hosts);
  const double floor = median(measurements.at(Healer::kByHand).milliseconds);
  for (const auto& [healer, figures] : measurements) {
    out +=
        fmt::format("| {} | {} | {} | {} | {:.2f} |\n", name_of(healer), figures.milliseconds.size(),
                    spread(figures.replaced, 0), spread(figures.milliseconds, 0), median(figures.milliseconds) / floor);
  }
  return out;
}

Status run(const CommandLine& line) {
  Measurements measurements;
  for (int turn = 0; turn < line.turns; ++turn) {
    for (const Healer healer : kHealers) {
      if (healer == Healer::kKubeRay && line.bench.kuberay_program.empty()) continue;
      RETURN_IF_ERROR(measure_turn(line, healer, measurements[healer]));
    }
  }
  const std::string table = to_table(line, measurements);
  fmt::print("{}", table);
  return line.record ? record(kResultsPage, table) : Status();
}

int main_with_result(int argc, char** argv) {
  CLI::App app("Measures how long a slice is not Ready after one of its pods has failed.", "tpu-slice-healing-bench");
  CommandLine line;
  app.add_option("--operator", line.bench.operator_program, "Path of the operator.")
      ->required()
      ->check(CLI::ExistingFile);
  auto* const kuberay =
      app.add_option("--kuberay", line.bench.kuberay_program, "Path of KubeRay's operator.")->check(CLI::ExistingFile);
  auto* const crds = app.add_option("--kuberay-crds", line.bench.kuberay_crds, "Directory of KubeRay's CRDs.")
                         ->check(CLI::ExistingDirectory);
  kuberay->needs(crds);
  app.add_option("--slices", line.bench.slices, "Slices of the RayCluster. Default: 8")->check(CLI::PositiveNumber);
  app.add_option("--hosts", line.bench.hosts, "Hosts of a slice. Default: 4")->check(CLI::PositiveNumber);
  app.add_option("--spare", line.bench.spare, "Node pools that no slice uses before a failure. Default: 0")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--turns", line.turns, "Control planes for each program. Default: 3")->check(CLI::PositiveNumber);
  app.add_option("--rounds", line.rounds, "Failures in each. Default: 10")->check(CLI::PositiveNumber);
  app.add_flag("--keep", line.bench.keep_dir, "Keep the directories with all logs.");
  app.add_flag("--record", line.record, "Append the table to docs/performance.md.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  const Status measured = run(line);
  if (measured) return 0;
  fmt::print(stderr, "tpu-slice-healing-bench: {}\n", measured.error().message());
  return 1;
}

}  // namespace
}  // namespace tpuslice::bench

int main(int argc, char** argv) { return tpuslice::bench::main_with_result(argc, argv); }
