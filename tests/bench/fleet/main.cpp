// tpu-slice-fleet-bench: see docs/performance.md.
#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/base/result.h"
#include "tests/bench/fleet/bound.h"
#include "tests/bench/fleet/report.h"
#include "tests/bench/fleet/simulation.h"

namespace tpuslice::fleet_bench {
namespace {

constexpr int kUsageError = 2;
constexpr const char* kBound = "bound";

struct CommandLine {
  int nodes = 1000;
  Setup setup;
  std::vector<std::string> policies;
  std::string json_file;

  [[nodiscard]] bool includes(std::string_view policy) const {
    return policies.empty() || std::ranges::find(policies, policy) != policies.end();
  }
};

std::vector<std::string> all_policies() {
  std::vector<std::string> names(policy_names().begin(), policy_names().end());
  names.emplace_back(kBound);
  return names;
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << '\n';
  if (!file.flush()) return Error::invalid_argument("{}: cannot be written", path);
  return {};
}

Status run_fleet(CommandLine line) {
  line.setup.policy.seed = line.setup.trace.seed;
  const Fleet fleet = make_fleet(line.nodes);
  const Trace trace = make_trace(fleet, line.setup.trace);
  std::vector<Outcome> outcomes;
  for (const std::string_view policy : policy_names()) {
    if (!line.includes(policy)) continue;
    outcomes.push_back(simulate(fleet, trace, policy, line.setup.policy));
    fmt::print(stderr, "{}: {:.1f} s of CPU time\n", policy, outcomes.back().cpu_seconds);
  }
  if (line.includes(kBound)) outcomes.push_back(bound_of(fleet, trace));
  fmt::print("{}", to_table(line.setup, fleet, trace, outcomes));
  if (line.json_file.empty()) return {};
  return write_file(line.json_file, to_json(line.setup, fleet, trace, outcomes).dump());
}

void add_options(CLI::App& app, CommandLine& line) {
  app.add_option("--nodes", line.nodes, "Number of nodes, about. Default: 1000")->check(CLI::Range(100, 100'000));
  app.add_option("--days", line.setup.trace.days, "Days that are measured. Default: 28")->check(CLI::Range(1, 365));
  app.add_option("--seed", line.setup.trace.seed, "Seed of the trace. Default: 1");
  app.add_option("--load", line.setup.trace.load, "Work submitted, of what all chips could do. Default: 0.9")
      ->check(CLI::Range(0.01, 10.0));
  app.add_option("--faults", line.setup.trace.faults, "Factor of all fault rates. Default: 1")
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--preemptions", line.setup.policy.preemptions_per_hour,
                 "Preemptions an hour that ours and best-fit may make. Default: 0");
  app.add_option("--reservation-minutes", line.setup.policy.reservation_minutes,
                 "Time for which ours reserves free domains; 0: it does not. Default: 30")
      ->check(CLI::Range(0, 100'000));
  app.add_option("--reservation-percent", line.setup.policy.reservation_percent,
                 "Percentage of the nodes that ours reserves for others than the first in the queue. Default: 0")
      ->check(CLI::Range(0, 100));
  app.add_option("--policy", line.policies, "Policies, separated by commas. Default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(all_policies()));
  app.add_option("--json", line.json_file, "Write all figures to this file, for plot.py.");
}

int main_with_result(int argc, char** argv) {
  CLI::App app("Compares placement policies on a simulated fleet in virtual time.", "tpu-slice-fleet-bench");
  CommandLine line;
  add_options(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  const Status status = run_fleet(line);
  if (!status) {
    fmt::print(stderr, "tpu-slice-fleet-bench: {}\n", status.error().message());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace tpuslice::fleet_bench

int main(int argc, char** argv) { return tpuslice::fleet_bench::main_with_result(argc, argv); }
