// tpu-slice-bench: see docs/performance.md.
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tests/bench/bench.h"
#include "tests/bench/figures.h"
#include "tests/bench/machine.h"
#include "tests/bench/report.h"

namespace tpuslice::bench {
namespace {

constexpr int kUsageError = 2;
constexpr int kSkipped = 77;       ///< Exit status for skipped tests.
constexpr int kRestartsOfRun = 2;  ///< For each method.
const Shape kRestarted = {.objects = 1, .slices = 64, .hosts = 4, .kind = Kind::kJobSet};
constexpr const char* kResultsPage = "docs/performance.md";

struct CommandLine {
  BenchOptions bench;
  int runs = 3;
  int rest = 60;  ///< Seconds.
  std::vector<std::string> only;
  bool record = false;
};

/// A shape and additional measurements.
struct Row {
  std::string name;
  Shape shape;
  int heal = 0;  ///< Number of slices in each run.
  bool rest = false;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {"4x1x256", {.objects = 4, .slices = 1, .hosts = 256}},
      {"4x64x4", {.objects = 4, .slices = 64, .hosts = 4}, 0, true},
      {"1x1x256", {.objects = 1, .slices = 1, .hosts = 256}, 3},
      {"1x64x4", {.objects = 1, .slices = 64, .hosts = 4}, 7},
      {"jobset-4x1x256", {.objects = 4, .slices = 1, .hosts = 256, .kind = Kind::kJobSet}},
      {"jobset-4x64x4", {.objects = 4, .slices = 64, .hosts = 4, .kind = Kind::kJobSet}},
      {"jobset-1x1x256", {.objects = 1, .slices = 1, .hosts = 256, .kind = Kind::kJobSet}},
      {"jobset-1x64x4", {.objects = 1, .slices = 64, .hosts = 4, .kind = Kind::kJobSet}, 0, true},
      {"leaderworkerset-1x1x256", {.objects = 1, .slices = 1, .hosts = 256, .kind = Kind::kLeaderWorkerSet}},
      {"leaderworkerset-1x64x4", {.objects = 1, .slices = 64, .hosts = 4, .kind = Kind::kLeaderWorkerSet}, 5, true},
  };
  return kRows;
}

/// Measures the rows once.
Status measure_rows(const std::vector<Row>& chosen, int run, Bench& bench, Measurements& out) {
  std::size_t healed = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Row& row = chosen[i];
    Bench::Meanwhile meanwhile;
    meanwhile.heal = row.heal;
    if (row.heal > 0) meanwhile.healing = &out.healing[healed++];
    if (row.rest) meanwhile.rest = out.rest_time;
    meanwhile.resting = &out.rest[row.shape.kind];
    // Operator and floor alternate in going first.
    const bool floor_first = (static_cast<std::size_t>(run) + i) % 2 == 0;
    ASSIGN_OR_RETURN(const Creation round, bench.create(row.shape, floor_first, meanwhile));
    fmt::print(stderr, "run {}: {}s: {}: {:.0f} of {:.0f} pods/s, {:.2f}\n", run + 1, name_of(row.shape.kind),
               row.shape.name(), round.rate, round.floor, round.ratio());
    out.creation[i].second.push_back(round);
  }
  return {};
}

Status measure_webhook(int run, Bench& bench, Measurements& out) {
  ASSIGN_OR_RETURN(const WebhookCost round, bench.measure_webhook({.objects = 4, .slices = 64, .hosts = 4}));
  fmt::print(stderr, "run {}: webhook: none {:.0f}, no-op {:.0f}, ours {:.0f} pods/s\n", run + 1, round.none.rate,
             round.noop.rate, round.ours.rate);
  out.webhook.push_back(round);
  return {};
}

Status measure_restarts(int run, Bench& bench, Measurements& out) {
  for (const RestartMethod method : kRestartMethods) {
    ASSIGN_OR_RETURN(const std::vector<Restart> restarts, bench.restart_jobset(kRestarted, method, kRestartsOfRun));
    for (const Restart& restart : restarts) {
      fmt::print(stderr, "run {}: restart {}: {:.2f} s\n", run + 1, name_of(method),
                 restart.seconds[static_cast<std::size_t>(RestartStep::kPodsCreated)].value_or(0));
      out.restarts[method].push_back(restart);
    }
  }
  return {};
}

Status measure(const CommandLine& line, Bench& bench, Measurements& out) {
  std::vector<Row> chosen;
  const auto is_chosen = [&](const std::string& name) {
    return line.only.empty() || std::any_of(line.only.begin(), line.only.end(), [&](const std::string& word) {
             return name == word || name.starts_with(word + "-");
           });
  };
  for (const Row& row : rows()) {
    if (is_chosen(row.name)) chosen.push_back(row);
  }
  out.runs = line.runs;
  out.rest_time = std::chrono::seconds(line.rest);
  for (const Row& row : chosen) {
    out.creation.push_back({row.shape, {}});
    if (row.heal > 0) out.healing.push_back({row.shape.hosts, {}, {}});
  }
  // Servers are slower just after their start.
  const Kind kind = chosen.empty() ? Kind::kJobSet : chosen.front().shape.kind;
  ASSIGN_OR_RETURN(const Creation warm, bench.create({.objects = 2, .slices = 64, .hosts = 4, .kind = kind}, true, {}));
  fmt::print(stderr, "warm-up: {:.0f} of {:.0f} pods/s\n", warm.rate, warm.floor);
  const auto measure_all = [&](int run) -> Status {
    RETURN_IF_ERROR(measure_rows(chosen, run, bench, out));
    if (is_chosen("webhook")) RETURN_IF_ERROR(measure_webhook(run, bench, out));
    if (is_chosen("jobset-restart")) RETURN_IF_ERROR(measure_restarts(run, bench, out));
    return {};
  };
  for (int run = 0; run < line.runs; ++run) {
    const Status measured = measure_all(run);
    if (measured) continue;
    if (run == 0) return measured;
    fmt::print(stderr, "run {} failed: {}; the table is of what was measured before\n", run + 1,
               measured.error().message());
    break;
  }
  return {};
}

Result<int> run(const CommandLine& line) {
  auto bench = Bench::start(line.bench);
  if (!bench && bench.error().code() == ErrorCode::kNotFound) {
    fmt::print(stderr, "{}\n", bench.error().message());
    return kSkipped;
  }
  if (!bench) return bench.error();
  Measurements measurements;
  RETURN_IF_ERROR(measure(line, **bench, measurements));
  const std::string table = to_table(measurements);
  fmt::print("{}", table);
  if (line.record) RETURN_IF_ERROR(record(kResultsPage, table));
  return 0;
}

int main_with_result(int argc, char** argv) {
  CLI::App app("Measures the operator on a real control plane and compares it with the limits of that control plane.",
               "tpu-slice-bench");
  CommandLine line;
  app.add_option("--operator", line.bench.operator_program, "Path of the operator.")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_flag("--keep", line.bench.keep_dir, "Keep the directory with all logs.");
  app.add_option("--runs", line.runs, "Number of runs. Default: 3")->check(CLI::PositiveNumber);
  app.add_option("--rest", line.rest, "Seconds at rest, once in a run. Default: 60");
  app.add_option(
      "--only", line.only,
      "Rows to measure: 4x1x256, 4x64x4, 1x1x256, 1x64x4, webhook; jobset-4x1x256 and so on, jobset-restart, or "
      "jobset for all of these; leaderworkerset-1x1x256, leaderworkerset-1x64x4, or leaderworkerset. "
      "Default: all.");
  app.add_flag("!--no-slices", line.bench.gangs, "Run without the slice controllers: pods of JobSets are not gated.");
  app.add_flag("--record", line.record, "Append the table to docs/performance.md.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  const auto status = run(line);
  if (!status) {
    fmt::print(stderr, "tpu-slice-bench: {}\n", status.error().message());
    return 1;
  }
  return *status;
}

}  // namespace
}  // namespace tpuslice::bench

int main(int argc, char** argv) { return tpuslice::bench::main_with_result(argc, argv); }
