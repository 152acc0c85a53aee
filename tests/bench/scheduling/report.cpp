#include "tests/bench/scheduling/report.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "tests/bench/figures.h"

namespace tpuslice::bench {
namespace {

template <typename Of>
std::string column(const std::vector<Round>& rounds, int digits, Of of) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(static_cast<double>(std::invoke(of, round)));
  return spread(std::move(values), digits);
}

/// Over the finished rounds.
std::string rate_column(const std::vector<Round>& rounds) {
  std::vector<double> values;
  for (const Round& round : rounds) {
    if (round.finished()) values.push_back(round.rate);
  }
  std::string text = values.empty() ? "" : spread(values, 0);
  if (values.size() == rounds.size()) return text;
  return fmt::format("{}{}{} of {} rounds unfinished", text, text.empty() ? "" : "; ", rounds.size() - values.size(),
                     rounds.size());
}

/// Relative to the method `base` in the same run, if both finished.
std::string ratio_column(const SizeMeasurements& size, Method method, Method base) {
  const auto found = size.rounds.find(base);
  if (found == size.rounds.end()) return "-";
  const std::vector<Round>& rounds = size.rounds.at(method);
  std::vector<double> values;
  for (std::size_t run = 0; run < std::min(rounds.size(), found->second.size()); ++run) {
    const Round& other = found->second[run];
    if (other.finished() && rounds[run].finished()) values.push_back(rounds[run].rate / other.rate);
  }
  return spread(std::move(values), 2);
}

std::string row(const SizeMeasurements& size, Method method) {
  const std::vector<Round>& rounds = size.rounds.at(method);
  const auto of_operator = [&](int digits, auto of) { return is_gated(method) ? column(rounds, digits, of) : "-"; };
  return fmt::format("| {} ({}) | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} % |\n", size.nodes,
                     size.running, description_of(method), rate_column(rounds),
                     ratio_column(size, method, Method::kAffinity), ratio_column(size, method, Method::kBound),
                     column(rounds, 0, &Round::creation_rate), column(rounds, 2, &Round::scheduler_cpu),
                     column(rounds, 2, &Round::apiserver_cpu), of_operator(2, &Round::operator_cpu),
                     of_operator(0, &Round::resident), column(rounds, 0, &Round::bound),
                     column(rounds, 0, &Round::whole), column(rounds, 0, &Round::partial),
                     column(rounds, 0, [](const Round& round) { return 100 * round.others; }));
}

}  // namespace

std::string to_table(const SchedulingMeasurements& measurements) {
  std::string out = fmt::format(
      "{} slices of 4 hosts in a round, of at most {} s. Medians of {} runs (min-max).\n\n"
      "| nodes (slices running) | kept together by | pods/s | of affinity alone | of bound pods | created, pods/s "
      "| kube-scheduler, CPU-s per 1,000 | kube-apiserver | operator | operator, MiB | pods bound | slices whole "
      "| half-placed | other programs |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      measurements.slices, std::chrono::duration_cast<std::chrono::seconds>(measurements.limit).count(),
      measurements.runs);
  std::string unfinished;
  for (const SizeMeasurements& size : measurements.sizes) {
    for (const auto& [method, rounds] : size.rounds) {
      out += row(size, method);
      for (std::size_t run = 0; run < rounds.size(); ++run) {
        if (rounds[run].finished()) continue;
        unfinished += fmt::format("- {} nodes, {}, run {}: {}\n", size.nodes, description_of(method), run + 1,
                                  outcome_of(rounds[run]));
      }
    }
  }
  if (!unfinished.empty()) out += "\nUnfinished:\n\n" + unfinished;
  return out;
}

std::string outcome_of(const Round& round) {
  if (round.finished() && round.partial == 0) {
    return fmt::format("{:.0f} pods/s, {} slices whole", round.rate, round.whole);
  }
  return fmt::format("{} of {} pods bound ({:.0f} pods/s), {} slices whole, {} half-placed, {} torn down", round.bound,
                     round.pods, round.rate, round.whole, round.partial, round.torn_down);
}

}  // namespace tpuslice::bench
