#include "tests/bench/fleet/report.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tests/bench/fleet/draws.h"

namespace tpuslice::fleet_bench {
namespace {

const Outcome* find_outcome(const std::vector<Outcome>& outcomes, std::string_view policy) {
  const auto found = std::ranges::find(outcomes, policy, &Outcome::policy);
  return found == outcomes.end() ? nullptr : &*found;
}

bool is_bound(const Outcome& outcome) { return outcome.policy == "bound"; }

double ratio(double value, double of) { return of > 0 ? value / of : 0; }

/// "0.93", or "-" if there is nothing to compare with.
std::string ratio_text(double value, double of) { return of > 0 ? fmt::format("{:.2f}", value / of) : "-"; }

double chip_hours(double host_hours) { return host_hours * kChipsPerHost; }

std::string describe(const Setup& setup, const Fleet& fleet, const Trace& trace) {
  std::set<std::string> zones;
  int spot = 0;
  for (const Pool& pool : fleet.pools) {
    zones.insert(pool.zone);
    spot += pool.spot ? 1 : 0;
  }
  return fmt::format(
      "{} nodes, {} chips, {} node pools ({} spot) in {} zones. {:.0f} days, after {:.0f} in which the fleet fills. "
      "Load "
      "{:.2f}: {} jobs. {} faults. {} preemptions an hour are allowed. Seed {}.\n\n",
      fleet.node_count(), fleet.chips(), fleet.pools.size(), spot, zones.size(),
      hours_of(trace.end - trace.measured_from) / 24, hours_of(trace.measured_from - trace.start) / 24,
      setup.trace.load, trace.jobs.size(), trace.faults.size(), setup.policy.preemptions_per_hour, setup.trace.seed);
}

std::string policy_table(const std::vector<Outcome>& outcomes) {
  std::string out =
      "| policy | chips in use, % | useful, % | useful, of the bound | chip-hours held by slices that did not run "
      "| restarts per lost host | chip-hours lost to preemption | preemptions | deadlocks | fragmentation, % "
      "| jobs done | jobs failed |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  const Outcome* const bound = find_outcome(outcomes, "bound");
  for (const Outcome& each : outcomes) {
    if (is_bound(each)) {
      out += fmt::format("| bound | {0:.1f} | {0:.1f} | 1.00 | | | | | | | | |\n", 100 * each.useful / each.capacity);
      continue;
    }
    const RunCounts& counts = each.counts;
    out += fmt::format("| {} | {:.1f} | {:.1f} | {} | {:.0f} | {} | {:.0f} | {} | {} | {:.2f} | {} | {} |\n",
                       each.policy, 100 * each.running / each.capacity, 100 * each.useful / each.capacity,
                       ratio_text(each.useful_in_all, bound == nullptr ? 0 : bound->useful_in_all),
                       chip_hours(each.half_placed), ratio_text(counts.restarts, counts.losses),
                       chip_hours(counts.lost_to_preemption), counts.preemptions, counts.deadlocks,
                       100 * counts.stranded / each.capacity, counts.succeeded, counts.failed);
  }
  return out;
}

/// Quantiles in hours, and that of 95 % compared with that of `ours`, which may be null.
std::string wait_columns(const std::vector<double>& hours, const std::vector<double>* ours) {
  const double p95 = quantile(hours, 0.95);
  return fmt::format("{} | {:.2f} | {:.2f} | {:.1f} | {}", hours.size(), quantile(hours, 0.5), p95, quantile(hours, 1),
                     ratio_text(p95, ours == nullptr ? 0 : quantile(*ours, 0.95)));
}

std::string wait_table(const std::vector<Outcome>& outcomes) {
  std::string out =
      "| chips of the job | policy | jobs | wait, h: p50 | p95 | max | p95, of ours | not started |\n"
      "|---|---|---|---|---|---|---|---|\n";
  const Outcome* const ours = find_outcome(outcomes, "ours");
  for (std::size_t size = 0; size < kSizeClasses; ++size) {
    for (const Outcome& each : outcomes) {
      if (is_bound(each)) continue;
      const Waits& waits = each.waits[size];
      out += fmt::format("| {} | {} | {} | {} |\n", kSizeClassNames[size], each.policy,
                         wait_columns(waits.hours, ours == nullptr ? nullptr : &ours->waits[size].hours),
                         waits.not_started);
    }
  }
  return out;
}

std::string restart_wait_table(const std::vector<Outcome>& outcomes) {
  std::string out =
      "| policy | restarts that ran | from new pods until they run, h: p50 | p95 | max | p95, of ours |\n"
      "|---|---|---|---|---|---|\n";
  const Outcome* const ours = find_outcome(outcomes, "ours");
  for (const Outcome& each : outcomes) {
    if (is_bound(each)) continue;
    out += fmt::format("| {} | {} |\n", each.policy,
                       wait_columns(each.restart_waits, ours == nullptr ? nullptr : &ours->restart_waits));
  }
  return out;
}

Json waits_json(const std::vector<double>& hours) {
  return {{"count", hours.size()},
          {"p50", quantile(hours, 0.5)},
          {"p95", quantile(hours, 0.95)},
          {"max", quantile(hours, 1)}};
}

Json samples_json(const Outcome& outcome, int nodes) {
  Json hours = Json::array();
  Json in_use = Json::array();
  Json half_placed = Json::array();
  for (const HourlySample& sample : outcome.samples) {
    hours.push_back(sample.hours);
    in_use.push_back(sample.running / nodes);
    half_placed.push_back(sample.half_placed / nodes);
  }
  return {{"hours", std::move(hours)}, {"in_use", std::move(in_use)}, {"half_placed", std::move(half_placed)}};
}

Json outcome_json(const Outcome& outcome, const Fleet& fleet, const Outcome* bound) {
  Json json = {{"name", outcome.policy},
               {"in_use", outcome.running / outcome.capacity},
               {"useful", outcome.useful / outcome.capacity},
               {"series", samples_json(outcome, fleet.node_count())}};
  if (bound != nullptr) json["useful_of_bound"] = ratio(outcome.useful_in_all, bound->useful_in_all);
  if (is_bound(outcome)) return json;
  const RunCounts& counts = outcome.counts;
  json["half_placed_chip_hours"] = chip_hours(outcome.half_placed);
  json["fragmentation"] = counts.stranded / outcome.capacity;
  json["losses"] = counts.losses;
  json["restarts"] = counts.restarts;
  json["preemptions"] = counts.preemptions;
  json["chip_hours_lost_to_preemption"] = chip_hours(counts.lost_to_preemption);
  json["deadlocks"] = counts.deadlocks;
  json["jobs_arrived"] = counts.arrived;
  json["jobs_done"] = counts.succeeded;
  json["jobs_failed"] = counts.failed;
  json["restart_waits"] = waits_json(outcome.restart_waits);
  json["waits"] = Json::array();
  for (std::size_t size = 0; size < kSizeClasses; ++size) {
    Json waits = waits_json(outcome.waits[size].hours);
    waits["chips"] = kSizeClassNames[size];
    waits["not_started"] = outcome.waits[size].not_started;
    json["waits"].push_back(std::move(waits));
  }
  return json;
}

}  // namespace

std::string to_table(const Setup& setup, const Fleet& fleet, const Trace& trace, const std::vector<Outcome>& outcomes) {
  return describe(setup, fleet, trace) + policy_table(outcomes) + "\n" + wait_table(outcomes) + "\n" +
         restart_wait_table(outcomes);
}

Json to_json(const Setup& setup, const Fleet& fleet, const Trace& trace, const std::vector<Outcome>& outcomes) {
  Json json = {{"nodes", fleet.node_count()},
               {"chips", fleet.chips()},
               {"days", setup.trace.days},
               {"seed", setup.trace.seed},
               {"load", setup.trace.load},
               {"faults", setup.trace.faults},
               {"preemptions_per_hour", setup.policy.preemptions_per_hour},
               {"jobs", trace.jobs.size()},
               {"policies", Json::array()}};
  const Outcome* const bound = find_outcome(outcomes, "bound");
  for (const Outcome& each : outcomes) json["policies"].push_back(outcome_json(each, fleet, bound));
  return json;
}

}  // namespace tpuslice::fleet_bench
