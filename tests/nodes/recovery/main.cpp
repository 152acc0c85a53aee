// tpu-slice-recovery-bench: see docs/performance.md. It is started by tests/nodes/run.sh.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tests/bench/figures.h"
#include "tests/nodes/recovery/recovery_bench.h"

namespace tpuslice::bench {
namespace {

constexpr int kUsageError = 2;
constexpr int kSkipped = 77;  ///< Exit status for skipped tests.

struct CommandLine {
  RecoveryOptions bench;
  std::vector<std::string> kinds;   ///< Empty: all.
  std::vector<std::string> faults;  ///< Empty: all.
  std::string teardown = "both";
  int failures = 3;
  bool json = false;
};

/// Recoveries of one workload from one fault.
struct Row {
  std::string_view kind;
  std::string_view fault;
  bool short_teardown = false;
  std::vector<std::optional<Recovery>> recoveries = {};
};

std::string repaired_by(const CommandLine& line) {
  if (line.bench.by_hand) return "by hand";
  return line.bench.upstream.empty() ? "this operator" : line.bench.upstream;
}

bool is_chosen(const std::vector<std::string>& chosen, std::string_view name) {
  return chosen.empty() || std::ranges::find(chosen, name) != chosen.end();
}

/// Whether it is measured in this run: an operator of upstream serves one kind, and pods are replaced by hand.
bool is_served(const CommandLine& line, const Workload& workload) {
  const bool by_hand = workload.upstream == "by hand";
  if (line.bench.by_hand || by_hand) return line.bench.by_hand && by_hand;
  return (line.bench.upstream.empty() || line.bench.upstream == workload.upstream) &&
         is_chosen(line.kinds, workload.name);
}

std::vector<bool> teardowns(const CommandLine& line) {
  if (line.teardown == "own" || !line.bench.upstream.empty()) return {false};  // Upstream does not know the annotation.
  if (line.teardown == "short") return {true};
  return {false, true};
}

/// The median of those that recovered, in seconds.
std::string median_of(const Row& row, std::size_t phase) {
  std::vector<double> seconds;
  for (const auto& recovery : row.recoveries) {
    if (recovery && (*recovery)[phase]) seconds.push_back(*(*recovery)[phase]);
  }
  return seconds.empty() ? "-" : fmt::format("{:.1f}", median(seconds));
}

std::string to_table(const CommandLine& line, const std::vector<Row>& rows) {
  std::string out = "\n| repaired by | workload | fault | teardown, s | recovered |";
  for (const std::string_view phase : kPhaseNames) out += fmt::format(" {} |", phase);
  out += "\n|---|---|---|---|---|";
  for (std::size_t phase = 0; phase < kPhaseNames.size(); ++phase) out += "---|";
  for (const Row& row : rows) {
    const auto recovered = std::ranges::count_if(row.recoveries, [](const auto& each) { return each.has_value(); });
    out += fmt::format("\n| {} | {} | {} | {} | {} of {} |", repaired_by(line), row.kind, row.fault,
                       row.short_teardown ? 1 : 30, recovered, row.recoveries.size());
    for (std::size_t phase = 0; phase < kPhaseNames.size(); ++phase) out += fmt::format(" {} |", median_of(row, phase));
  }
  return out + "\n";
}

Json to_json(const CommandLine& line, const std::vector<Row>& rows) {
  Json out = Json::array();
  for (const Row& row : rows) {
    Json recoveries = Json::array();
    for (const auto& recovery : row.recoveries) {
      Json phases;  // null: not in time
      for (std::size_t phase = 0; recovery && phase < kPhaseNames.size(); ++phase) {
        if ((*recovery)[phase]) phases[std::string(kPhaseNames[phase])] = *(*recovery)[phase];
      }
      recoveries.push_back(std::move(phases));
    }
    out.push_back({{"repairedBy", repaired_by(line)},
                   {"workload", row.kind},
                   {"fault", row.fault},
                   {"teardownSeconds", row.short_teardown ? 1 : 30},
                   {"recoveries", std::move(recoveries)}});
  }
  return out;
}

Status measure_row(const CommandLine& line, RecoveryBench& bench, const Workload& workload, const Fault& fault,
                   Row& row) {
  for (int round = 0; round < line.failures; ++round) {
    ASSIGN_OR_RETURN(const auto recovery, bench.recover(workload, fault, row.short_teardown, round));
    row.recoveries.push_back(recovery);
    const auto ready = recovery ? (*recovery)[static_cast<std::size_t>(Phase::kReady)] : std::nullopt;
    fmt::print(stderr, "  {}: {}, {}, teardown {} s: {}\n", repaired_by(line), row.kind, row.fault,
               row.short_teardown ? 1 : 30, ready ? fmt::format("Ready after {:.1f} s", *ready) : "not recovered");
  }
  return {};
}

/// Rows that an error ends have fewer recoveries.
Status measure(const CommandLine& line, RecoveryBench& bench, std::vector<Row>& rows) {
  for (const Workload& workload : workloads()) {
    for (const Fault& fault : faults()) {
      if (!is_served(line, workload) || !is_chosen(line.faults, fault.name)) continue;
      for (const bool short_teardown : teardowns(line)) {
        rows.push_back({workload.name, fault.name, short_teardown});
        RETURN_IF_ERROR(measure_row(line, bench, workload, fault, rows.back()));
      }
    }
  }
  return {};
}

Result<int> run(const CommandLine& line) {
  const auto bench = RecoveryBench::start(line.bench);
  if (!bench && bench.error().code() == ErrorCode::kNotFound) {
    fmt::print(stderr, "{}\n", bench.error().message());
    return kSkipped;
  }
  if (!bench) return bench.error();
  std::vector<Row> rows;
  const Status measured = measure(line, **bench, rows);
  fmt::print("{}", line.json ? to_json(line, rows).dump(2) + "\n" : to_table(line, rows));
  if (!measured) return measured.error();
  return 0;
}

template <typename Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> out;
  for (const auto& each : table) out.emplace_back(each.name);
  return out;
}

void add_options(CLI::App& app, CommandLine& line) {
  app.add_option("--operator", line.bench.operator_program, "Path of the operator.")
      ->required()
      ->check(CLI::ExistingFile);
  auto* const upstream = app.add_option("--upstream", line.bench.upstream, "Run upstream's operator instead.")
                             ->check(CLI::IsMember({"jobset", "lws", "kuberay"}));
  app.add_flag("--by-hand", line.bench.by_hand, "Run neither: delete the pods, and create them again on chosen nodes.")
      ->excludes(upstream);
  app.add_option("--kinds", line.kinds, "Workloads. Default: all that are served")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of(workloads())));
  app.add_option("--faults", line.faults, "Faults. Default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of(faults())));
  app.add_option("--teardown", line.teardown,
                 "Grace period of the other hosts: own (30 s), short (1 s) or both, the default.")
      ->check(CLI::IsMember({"own", "short", "both"}));
  app.add_option("--failures", line.failures, "Failures of each workload by each fault. Default: 3")
      ->check(CLI::PositiveNumber);
  app.add_option("--node-timeout", line.bench.node_timeout,
                 "Seconds for which a node that is not Ready is tolerated. Default: 30; Kubernetes: 300")
      ->check(CLI::PositiveNumber);
  app.add_option_function<int>(
         "--limit", [&line](int seconds) { line.bench.limit = std::chrono::seconds(seconds); },
         "Seconds after which a slice has not recovered. Default: 600")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", line.json, "Print all figures as JSON instead of the table.");
  app.add_flag("--keep", line.bench.keep_dir, "Keep the directory with all logs.");
}

int main_with_result(int argc, char** argv) {
  CLI::App app("Measures on real kubelets how long a slice does not run after a fault.", "tpu-slice-recovery-bench");
  CommandLine line;
  add_options(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  const auto status = run(line);
  if (!status) fmt::print(stderr, "tpu-slice-recovery-bench: {}\n", status.error().message());
  return status ? *status : 1;
}

}  // namespace
}  // namespace tpuslice::bench

int main(int argc, char** argv) { return tpuslice::bench::main_with_result(argc, argv); }
