#include "tests/bench/report.h"

#include <functional>
#include <utility>

#include <fmt/format.h>

#include "tests/bench/figures.h"

namespace tpuslice::bench {
namespace {

std::vector<double> milliseconds(std::vector<double> seconds) {
  for (double& each : seconds) each *= 1000;
  return seconds;
}

template <typename Of>
std::string column(const std::vector<Creation>& rounds, int digits, Of of) {
  std::vector<double> values;
  for (const Creation& round : rounds) values.push_back(std::invoke(of, round));
  return spread(std::move(values), digits);
}

std::string creation_table(const Measurements& measurements, Kind kind) {
  const char* floor = kind == Kind::kRayCluster ? "floor" : kind == Kind::kJobSet ? "bare Jobs" : "bare StatefulSets";
  std::string out = fmt::format(
      "| {0}s | pods | pods/s | {1}, pods/s | ratio | operator, CPU-s per 1,000 | of the API server's, % | resident, "
      "MiB before | after | API server, CPU-s per 1,000 | {1}, API server | kube-controller-manager, CPU-s per 1,000 | "
      "{1}, kube-controller-manager | other programs |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      name_of(kind), floor);
  bool any = false;
  for (const auto& [shape, rounds] : measurements.creation) {
    if (shape.kind != kind) continue;
    any = true;
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} % |\n", shape.name(),
                       shape.pods(), column(rounds, 0, &Creation::rate), column(rounds, 0, &Creation::floor),
                       column(rounds, 2, &Creation::ratio), column(rounds, 2, &Creation::operator_cpu),
                       column(rounds, 1, &Creation::operator_share), column(rounds, 1, &Creation::resident_before),
                       column(rounds, 1, &Creation::resident_after), column(rounds, 2, &Creation::apiserver_cpu),
                       column(rounds, 2, &Creation::floor_apiserver_cpu), column(rounds, 2, &Creation::controllers_cpu),
                       column(rounds, 2, &Creation::floor_controllers_cpu),
                       column(rounds, 0, [](const Creation& round) { return 100 * round.others; }));
  }
  return any ? out + "\n" : "";
}

std::string healing_table(const std::vector<Healing>& healing) {
  std::string out =
      "| one pod fails, of a slice of | until all replacements are ADDED, ms | floor, ms | floor / operator |\n"
      "|---|---|---|---|\n";
  for (const Healing& each : healing) {
    const double took = median(each.seconds);
    const bool compared = took > 0 && !each.floor.empty();
    out += fmt::format("| {} hosts | {} | {} | {} |\n", each.hosts, spread(milliseconds(each.seconds), 0),
                       spread(milliseconds(each.floor), 0),
                       compared ? fmt::format("{:.2f}", median(each.floor) / took) : "-");
  }
  for (const Healing& each : healing) {
    if (each.single == 0) continue;
    out += fmt::format(
        "\nSlices of {} hosts: kube-controller-manager replaced the failed pod {} times before the operator observed "
        "its "
        "failure.\n",
        each.hosts, each.single);
  }
  return out;
}

/// A row for each step, a column for each method.
std::string restart_table(const std::map<RestartMethod, std::vector<Restart>>& restarts) {
  std::string head = "| a pod of a JobSet of 64 x 4 fails; seconds until |";
  std::string line = "|---|";
  for (const auto& [method, runs] : restarts) {
    head += fmt::format(" {} |", name_of(method));
    line += "---|";
  }
  std::string out = head + "\n" + line + "\n";
  const auto row = [&](std::string_view name, const auto& value) {
    out += fmt::format("| {} |", name);
    for (const auto& [method, runs] : restarts) {
      std::vector<double> values;
      for (const Restart& each : runs) {
        if (const std::optional<double> found = value(each)) values.push_back(*found);
      }
      out += fmt::format(" {} |", spread(values, 2));
    }
    out += "\n";
  };
  for (std::size_t step = 0; step < kRestartSteps; ++step) {
    row(name_of(static_cast<RestartStep>(step)), [step](const Restart& each) { return each.seconds[step]; });
  }
  row("CPU seconds: API server", [](const Restart& each) { return std::optional(each.apiserver_cpu); });
  row("kube-controller-manager", [](const Restart& each) { return std::optional(each.controllers_cpu); });
  row("operator", [](const Restart& each) { return std::optional(each.operator_cpu); });
  return out;
}

std::string rest_line(Kind kind, const std::vector<Rest>& rests, Duration time) {
  std::vector<double> writes;
  std::vector<double> cpu;
  for (const Rest& each : rests) {
    writes.push_back(each.writes);
    cpu.push_back(each.cpu_percent);
  }
  return fmt::format("At rest with {}s for {} s: {} writes, {} % of a core.\n", name_of(kind),
                     std::chrono::duration_cast<std::chrono::seconds>(time).count(), spread(writes, 0), spread(cpu, 2));
}

std::string webhook_table(const std::vector<WebhookCost>& rounds) {
  struct Method {
    const char* name;
    PostResult WebhookCost::*posted;
  };
  constexpr Method kMethods[] = {
      {"none", &WebhookCost::none}, {"no-op webhook", &WebhookCost::noop}, {"operator", &WebhookCost::ours}};
  std::string out =
      "| webhook of pods that are not mutated in advance | pods/s | ratio to the no-op webhook | API server, "
      "CPU-s per 1,000 | operator, CPU-s per 1,000 |\n|---|---|---|---|---|\n";
  for (const Method& method : kMethods) {
    std::vector<double> rates;
    std::vector<double> ratios;
    std::vector<double> apiserver;
    std::vector<double> ours;
    for (const WebhookCost& round : rounds) {
      const PostResult& posted = round.*method.posted;
      rates.push_back(posted.rate);
      ratios.push_back(round.noop.rate == 0 ? 0 : posted.rate / round.noop.rate);
      apiserver.push_back(posted.apiserver_cpu);
      if (method.posted == &WebhookCost::ours) ours.push_back(round.operator_cpu);
    }
    out += fmt::format("| {} | {} | {} | {} | {} |\n", method.name, spread(rates, 0), spread(ratios, 2),
                       spread(apiserver, 2), spread(ours, 2));
  }
  return out;
}

}  // namespace

std::string to_table(const Measurements& measurements) {
  std::string out = fmt::format("Medians of {} runs (min-max).\n\n", measurements.runs);
  for (const Kind kind : kKinds) out += creation_table(measurements, kind);
  if (!measurements.healing.empty()) out += healing_table(measurements.healing) + "\n";
  if (!measurements.restarts.empty()) out += restart_table(measurements.restarts) + "\n";
  if (!measurements.webhook.empty()) out += webhook_table(measurements.webhook) + "\n";
  for (const auto& [kind, rests] : measurements.rest) {
    if (!rests.empty()) out += rest_line(kind, rests, measurements.rest_time);
  }
  return out;
}

}  // namespace tpuslice::bench
