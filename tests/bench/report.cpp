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

std::string creation_table(const Measurements& measurements) {
  std::string out =
      "| RayClusters | pods | pods/s | floor, pods/s | ratio | operator, CPU-s per 1,000 | resident, MiB before | "
      "after "
      "| API server, CPU-s per 1,000 | floor, API server | other programs |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [shape, rounds] : measurements.creation) {
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} % |\n", shape.name(), shape.pods(),
                       column(rounds, 0, &Creation::rate), column(rounds, 0, &Creation::floor),
                       column(rounds, 2, &Creation::ratio), column(rounds, 2, &Creation::operator_cpu),
                       column(rounds, 1, &Creation::resident_before), column(rounds, 1, &Creation::resident_after),
                       column(rounds, 2, &Creation::apiserver_cpu), column(rounds, 2, &Creation::floor_apiserver_cpu),
                       column(rounds, 0, [](const Creation& round) { return 100 * round.others; }));
  }
  return out;
}

std::string webhook_table(const std::vector<ThroughWebhook>& rounds) {
  struct Way {
    const char* name;
    Posted ThroughWebhook::*posted;
  };
  constexpr Way kWays[] = {{"nobody", &ThroughWebhook::none},
                           {"a webhook that changes nothing", &ThroughWebhook::noop},
                           {"our webhook", &ThroughWebhook::ours}};
  std::string out =
      "| pods that nobody prepared; the API server asks | pods/s | of a webhook that changes nothing | API server, "
      "CPU-s per 1,000 | operator, CPU-s per 1,000 |\n|---|---|---|---|---|\n";
  for (const Way& way : kWays) {
    std::vector<double> rates;
    std::vector<double> ratios;
    std::vector<double> apiserver;
    std::vector<double> ours;
    for (const ThroughWebhook& round : rounds) {
      const Posted& posted = round.*way.posted;
      rates.push_back(posted.rate);
      ratios.push_back(round.noop.rate == 0 ? 0 : posted.rate / round.noop.rate);
      apiserver.push_back(posted.apiserver_cpu);
      if (way.posted == &ThroughWebhook::ours) ours.push_back(round.operator_cpu);
    }
    out += fmt::format("| {} | {} | {} | {} | {} |\n", way.name, spread(rates, 0), spread(ratios, 2),
                       spread(apiserver, 2), spread(ours, 2));
  }
  return out;
}

}  // namespace

std::string to_table(const Measurements& measurements) {
  std::string out = fmt::format("Medians of {} runs (least-most).\n\n", measurements.runs);
  if (!measurements.creation.empty()) out += creation_table(measurements) + "\n";
  if (!measurements.healing.empty()) {
    out +=
        "| one pod fails, of a slice of | until all replacements are ADDED, ms | floor, ms | floor / operator |\n"
        "|---|---|---|---|\n";
    for (const Healing& each : measurements.healing) {
      const double took = median(each.seconds);
      out += fmt::format("| {} hosts | {} | {} | {:.2f} |\n", each.hosts, spread(milliseconds(each.seconds), 0),
                         spread(milliseconds(each.floor), 0), took == 0 ? 0 : median(each.floor) / took);
    }
    out += "\n";
  }
  if (!measurements.webhook.empty()) out += webhook_table(measurements.webhook) + "\n";
  if (!measurements.rest.empty()) {
    std::vector<double> writes;
    std::vector<double> cpu;
    for (const Rest& each : measurements.rest) {
      writes.push_back(each.writes);
      cpu.push_back(each.cpu_percent);
    }
    out += fmt::format("At rest for {} s: {} writes, {} % of a core.\n",
                       std::chrono::duration_cast<std::chrono::seconds>(measurements.rest_time).count(),
                       spread(writes, 0), spread(cpu, 2));
  }
  return out;
}

}  // namespace tpuslice::bench
