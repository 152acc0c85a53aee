#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/human_duration.h"
#include "api/base/strings.h"
#include "fleet/tables/texts.h"

namespace tpuslice::fleet {
namespace {

std::string name_text(const WorkloadName& workload) {
  return workload.hidden() ? to_string(workload) : to_lower(workload.kind) + "/" + workload.name;
}

std::string for_text(const std::optional<Timestamp>& since, Timestamp now) {
  return since ? ", for " + age_text(since, now) : std::string();
}

/// "2 slices of 4 hosts (v6e 4x4)"
std::string slices_text(std::int64_t count, const FleetSlice& slice) {
  return fmt::format("{} of {} ({})", counted(count, "slice"), counted(slice.hosts, "host"),
                     shape_text(slice.tpu, slice.topology));
}

/// The first line.
std::string heading(const WorkloadExplanation& of, Timestamp now) {
  const FleetSlice& first = of.slices.front();
  const std::string name = name_text(of.workload);
  if (of.waiting == 0) {
    const auto running = std::ranges::count(of.slices, SliceState::kRunning, &FleetSlice::state);
    if (running == static_cast<std::ptrdiff_t>(of.slices.size())) {
      return fmt::format("{} runs: {}{}.", name, slices_text(running, first), for_text(first.since, now));
    }
    return fmt::format("{}: {} of {} run.", name, running,
                       counted(static_cast<std::int64_t>(of.slices.size()), "slice"));
  }
  if (first.code.empty()) {
    return fmt::format("{} is placed next: {}, in {}.", name, slices_text(of.waiting, first), first.pool);
  }
  const std::string place =
      first.position > 0 && !first.never ? fmt::format(", {} in the queue", ordinal(first.position)) : "";
  return fmt::format("{} waits: {}{}{}.  [{}]", name, slices_text(of.waiting, first), for_text(first.since, now), place,
                     first.code);
}

void add_ahead(const WorkloadExplanation& of, std::string& out) {
  if (of.ahead.empty()) return;
  TextTable table;
  for (const AheadInQueue& each : of.ahead)
    table.rows.push_back({"  " + ordinal(each.position), each.workload, each.text});
  table.rows.push_back({"  " + ordinal(of.slices.front().position), "this slice"});
  const std::int64_t before = of.ahead.front().position - 1;
  out += "\n";
  if (before > 0) out += fmt::format("  {} more before\n", before);
  out += to_text(table, false);
}

void add_domains(const WorkloadExplanation& of, const TableOptions& options, std::string& out) {
  if (of.domains.empty()) return;
  TextTable table{.header = {"POOL", "MATCHES", "FREE", "WHY NOT"}};
  std::size_t more = 0;
  for (const ExplainedDomain& domain : of.domains) {
    if (!options.all && table.rows.size() == kMaxRows) {
      ++more;
      continue;
    }
    table.rows.push_back({domain.name, domain.matches ? "yes" : "no",
                          domain.free      ? "yes"
                          : domain.matches ? "no"
                                           : "-",
                          domain.why_not});
  }
  out += "\n" + to_text(table);
  if (more > 0) out += more_text(more) + "\n";
}

void add_line(const char* name, const std::string& text, std::string& out) {
  if (!text.empty()) out += fmt::format("{:<12}{}\n", name, printable(text));
}

/// A row for each slice that does not wait.
void add_slices(const WorkloadExplanation& of, Timestamp now, const TableOptions& options, std::string& out) {
  std::vector<FleetSlice> others;
  std::ranges::copy_if(of.slices, std::back_inserter(others),
                       [](const FleetSlice& slice) { return slice.state != SliceState::kWaiting; });
  if (others.empty()) return;
  TextTable table{.header = {"SLICE", "READY", "STATE", "SINCE", "POOL", "PROBLEM"}};
  for (const FleetSlice& slice : others) {
    if (!options.all && table.rows.size() == kMaxRows) break;
    table.rows.push_back({slice.slice, fmt::format("{}/{}", slice.ready, slice.hosts),
                          std::string(to_string(slice.state)), age_text(slice.since, now),
                          slice.pool.empty() ? "-" : slice.pool, slice.problem.empty() ? "-" : slice.problem});
  }
  out += "\n" + to_text(table);
  if (others.size() > table.rows.size()) out += more_text(others.size() - table.rows.size()) + "\n";
}

void add_history(const std::vector<HistoryRecord>& history, Timestamp now, std::string& out) {
  if (history.empty()) return;
  out += "\nLast interruptions\n" + to_text(history_table(history, now));
}

std::string users_text(const Pool& pool) {
  std::vector<std::string> names;
  names.reserve(pool.users.size());
  for (const PoolUser& user : pool.users) {
    names.push_back(to_string(user.workload) + (user.slice.empty() ? "" : " (" + user.slice + ")") +
                    (user.reserved ? ", reserved" : ""));
  }
  return fmt::format("{}", fmt::join(names, "; "));
}

}  // namespace

std::string ordinal(std::int64_t number) {
  const std::int64_t last = number % 10;
  const bool is_teen = number % 100 >= 11 && number % 100 <= 13;
  const char* const end = is_teen ? "th" : last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return fmt::format("{}{}", number, end);
}

std::string counted(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

TextTable history_table(const std::vector<HistoryRecord>& history, Timestamp now) {
  TextTable table{.header = {"TIME", "WORKLOAD", "SLICE", "WHAT", "WHY", "LOST", "BACK AFTER"}};
  for (const HistoryRecord& record : history) {
    const WorkloadName workload{record.namespace_name, record.kind, record.name};
    std::string back = "-";
    if (record.back_after) {
      back = human_duration(std::chrono::seconds(*record.back_after));
      if (!record.back_on.empty()) back += record.back_on == record.pool ? ", same pool" : " on " + record.back_on;
    }
    const std::string lost =
        record.lost_host_seconds == 0
            ? "-"
            : fmt::format("{:.1f} host-hours", static_cast<double>(record.lost_host_seconds) / 3600);
    table.rows.push_back({clock_text(record.time, now), to_string(workload), record.slice.empty() ? "-" : record.slice,
                          record.what, record.why.empty() ? record.code : record.why, lost, back});
  }
  return table;
}

std::string explanation_text(const WorkloadExplanation& explanation, Timestamp now, const TableOptions& options) {
  std::string out = printable(heading(explanation, now)) + "\n";
  const FleetSlice& first = explanation.slices.front();
  if (explanation.waiting > 0) {
    if (!first.reason.empty()) out += fmt::format("\n{}\n", printable(first.reason));
    add_ahead(explanation, out);
    add_domains(explanation, options, out);
    if (!explanation.earliest.empty() || !explanation.helps.empty() || !explanation.autoscaler.empty()) out += "\n";
    if (first.never) add_line("Starts:", "not as the cluster is, however long it waits", out);
    add_line("Earliest:", explanation.earliest, out);
    bool is_first = true;
    for (const std::string& help : explanation.helps) {
      add_line(is_first ? "Helps:" : "", help, out);
      is_first = false;
    }
    add_line("Autoscaler:", explanation.autoscaler, out);
  }
  add_slices(explanation, now, options, out);
  add_history(explanation.history, now, out);
  return out;
}

std::string explanation_text(const PoolExplanation& explanation, Timestamp now, const TableOptions& options) {
  const Pool& pool = explanation.pool;
  std::string out =
      fmt::format("pool/{} is {}: {}, {}, {} of {} in use{}.\n", printable(pool.name), state_text(pool.state),
                  printable(shape_text(pool.tpu, pool.topology)), counted(pool.chips, "chip"), pool.used_hosts,
                  counted(pool.wanted_hosts, "host"), for_text(pool.since, now));
  if (!pool.problem.empty()) out += fmt::format("\n{}\n", printable(pool.problem));
  out += "\n";
  add_line("Used by:", pool.users.empty() ? "none" : users_text(pool), out);
  if (pool.until) {
    add_line(pool.state == PoolState::kReserved ? "Until:" : "Ends by:", clock_text(*pool.until, now), out);
  }
  add_line("Zone:", pool.zone, out);
  add_line("Capacity:", pool.capacity, out);
  std::size_t shown = 0;
  for (const std::string& problem : explanation.problems) {
    if (!options.all && shown == kMaxRows) break;
    add_line(shown == 0 ? "Nodes:" : "", problem, out);
    ++shown;
  }
  if (!explanation.waiting.empty()) {
    add_line("Waiting:",
             fmt::format("{} for {}", counted(static_cast<std::int64_t>(explanation.waiting.size()), "slice"),
                         shape_text(pool.tpu, pool.topology)),
             out);
  }
  for (std::size_t i = 0; i < explanation.starts.size(); ++i) {
    add_line(i == 0 ? "Repaired:" : "", explanation.starts[i] + " starts at once", out);
  }
  add_history(explanation.history, now, out);
  return out;
}

}  // namespace tpuslice::fleet
