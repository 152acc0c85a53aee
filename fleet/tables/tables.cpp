#include "fleet/tables/tables.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/human_duration.h"
#include "api/base/strings.h"

namespace tpuslice::fleet {
namespace {

constexpr std::size_t kMaxDrawnHosts = 16;
constexpr std::size_t kMaxNames = 44;
constexpr std::size_t kMaxReasonWidth = 60;

/// The character in tables.
char drawn(char host) {
  switch (static_cast<HostState>(host)) {
    case HostState::kUsed:
      return '#';
    case HostState::kFree:
      return '.';
    case HostState::kReserved:
      return 'r';
    case HostState::kBroken:
      return 'x';
    case HostState::kCordoned:
      return 'c';
    case HostState::kMaintenance:
      return 'm';
  }
  return '?';
}

/// Rows up to the limit.
class RowLimit {
 public:
  RowLimit(Rows& rows, const TableOptions& options) : rows_(rows), all_(options.all) {}
  /// Whether one more may be added; else it is counted.
  [[nodiscard]] bool take() {
    if (all_ || rows_.table.rows.size() < kMaxRows) return true;
    ++rows_.more;
    return false;
  }

 private:
  Rows& rows_;
  const bool all_;
};

std::string workload_text(const WorkloadName& workload, const TableOptions& options) {
  if (workload.hidden() || options.show_namespace) return to_string(workload);
  return to_lower(workload.kind) + "/" + workload.name;
}

std::string users_text(const Pool& pool, const TableOptions& options) {
  if (pool.users.empty()) return "-";
  const PoolUser& first = pool.users.front();
  std::string text = workload_text(first.workload, options);
  if (!first.slice.empty()) text += " " + first.slice;
  if (pool.users.size() > 1) text += fmt::format(" and {} more", pool.users.size() - 1);
  return options.wide ? text : cut_text(text, kMaxNames);
}

std::string next_text(const Pool& pool, Timestamp now) {
  if (!pool.problem.empty()) return pool.problem;
  if (!pool.until) return "-";
  const bool reserved = pool.state == PoolState::kReserved;
  return fmt::format("{} {}", reserved ? "until" : "ends by", clock_text(*pool.until, now));
}

std::string behind_text(const FleetSlice& slice) {
  if (slice.never) return "does not start as the cluster is";
  if (slice.position > 1 && slice.behind.empty()) return fmt::format("{} ahead", slice.position - 1);
  if (slice.behind.empty()) return "-";
  if (slice.position > 2) return fmt::format("{} and {} more", slice.behind.front(), slice.position - 2);
  return slice.behind.front();
}

std::string reason_text(const FleetSlice& slice, bool wide) {
  const std::string& text = slice.reason.empty() ? slice.problem : slice.reason;
  if (wide) return text.empty() ? "-" : text;
  if (!slice.code.empty()) return slice.code;
  return text.empty() ? "-" : cut_text(text, kMaxReasonWidth);
}

}  // namespace

std::string more_text(std::size_t more) {
  return more == 0 ? std::string() : fmt::format("and {} more, --all shows them", more);
}

std::string hosts_text(const Pool& pool) {
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(pool.wanted_hosts, 0));
  const std::size_t missing = wanted > pool.hosts.size() ? wanted - pool.hosts.size() : 0;
  if (pool.hosts.size() + missing <= kMaxDrawnHosts) {
    std::string text;
    for (const char host : pool.hosts) text.push_back(drawn(host));
    return text + std::string(missing, '_');
  }
  std::map<char, std::size_t> counts;
  for (const char host : pool.hosts) ++counts[drawn(host)];
  if (missing > 0) counts['_'] += missing;
  std::string text = fmt::format("{} of {}", pool.used_hosts, std::max(wanted, pool.hosts.size()));
  for (const auto& [host, count] : counts) {
    if (host != '#' && host != '.') text += fmt::format(" {}{}", host, count);
  }
  return text;
}

std::string state_text(PoolState state) { return state == PoolState::kInUse ? "in use" : to_lower(to_string(state)); }

std::string shape_text(const std::string& tpu, const std::string& topology) {
  return topology.empty() ? tpu : tpu + " " + topology;
}

std::string age_text(const std::optional<Timestamp>& since, Timestamp now) {
  return since ? human_duration(std::max(now - *since, Duration::zero())) : "-";
}

std::string clock_text(Timestamp time, Timestamp now) {
  const std::string text = format_rfc3339(time);  // "2026-01-01T07:12:00Z"
  const std::string clock = text.substr(11, 5);
  return text.substr(0, 10) == format_rfc3339(now).substr(0, 10) ? clock : text.substr(0, 10) + " " + clock;
}

Rows status_table(const std::vector<StatusRow>& rows, Timestamp now, const TableOptions& options) {
  Rows out;
  out.table.header = {"TPU", "TOPOLOGY", "POOLS", "IN USE", "FREE", "BROKEN", "CHIPS IN USE", "WAITING", "OLDEST"};
  if (options.wide) out.table.header.insert(out.table.header.begin() + 5, "RESERVED");
  RowLimit limit(out, options);
  for (const StatusRow& row : rows) {
    if (!limit.take()) continue;
    const std::int64_t percent = row.chips == 0 ? 0 : row.chips_in_use * 100 / row.chips;
    std::vector<std::string> cells = {
        row.tpu,
        row.topology.empty() ? "-" : row.topology,
        std::to_string(row.pools),
        std::to_string(row.in_use),
        std::to_string(row.free),
        std::to_string(row.broken),
        row.pools == 0 ? "-" : fmt::format("{} of {} ({}%)", row.chips_in_use, row.chips, percent),
        std::to_string(row.waiting),
        row.waiting == 0 ? "-" : age_text(row.oldest, now)};
    if (options.wide) cells.insert(cells.begin() + 5, std::to_string(row.reserved));
    out.table.rows.push_back(std::move(cells));
  }
  return out;
}

Rows pools_table(const std::vector<Pool>& pools, Timestamp now, const TableOptions& options) {
  Rows out;
  out.table.header = {"POOL", "TPU", "HOSTS", "STATE", "USED BY", "SINCE", "NEXT"};
  if (options.wide) out.table.header.insert(out.table.header.end(), {"ZONE", "CAPACITY", "LOST 24H", "NODES"});
  RowLimit limit(out, options);
  for (const Pool& pool : pools) {
    if (!limit.take()) continue;
    const std::string next = next_text(pool, now);
    std::vector<std::string> cells = {pool.name,
                                      shape_text(pool.tpu, pool.topology),
                                      hosts_text(pool),
                                      state_text(pool.state),
                                      users_text(pool, options),
                                      age_text(pool.since, now),
                                      options.wide ? next : cut_text(next, kMaxReasonWidth)};
    if (options.wide) {
      cells.push_back(pool.zone.empty() ? "-" : pool.zone);
      cells.push_back(pool.capacity.empty() ? "-" : pool.capacity);
      cells.push_back(std::to_string(pool.failures));
      cells.push_back(pool.nodes.empty() ? "-" : fmt::format("{}", fmt::join(pool.nodes, ",")));
    }
    out.table.rows.push_back(std::move(cells));
  }
  return out;
}

Rows slices_table(const std::vector<FleetSlice>& slices, Timestamp now, const TableOptions& options) {
  Rows out;
  out.table.header = {"#", "WORKLOAD", "SLICE", "TPU", "READY", "STATE", "SINCE", "POOL", "REASON", "BEHIND"};
  if (options.show_namespace) out.table.header.insert(out.table.header.begin() + 1, "NAMESPACE");
  RowLimit limit(out, options);
  for (const FleetSlice& slice : slices) {
    if (!limit.take()) continue;
    const bool waits = slice.state == SliceState::kWaiting;
    std::vector<std::string> cells = {
        slice.position > 0 && !slice.never ? std::to_string(slice.position) : "-",
        slice.workload.hidden() ? "-" : to_lower(slice.workload.kind) + "/" + slice.workload.name,
        slice.slice.empty() ? "-" : slice.slice,
        shape_text(slice.tpu, slice.topology),
        fmt::format("{}/{}", slice.ready, slice.hosts),
        std::string(to_string(slice.state)),
        age_text(slice.since, now),
        slice.pool.empty() ? "-" : slice.pool,
        reason_text(slice, options.wide),
        waits ? behind_text(slice) : "-"};
    if (options.show_namespace) {
      cells.insert(cells.begin() + 1, slice.workload.hidden() ? "another" : slice.workload.namespace_name);
    }
    out.table.rows.push_back(std::move(cells));
  }
  return out;
}

Rows attention_table(const std::vector<Attention>& attention, const TableOptions& options) {
  Rows out;
  RowLimit limit(out, options);
  for (const Attention& each : attention) {
    if (!limit.take()) continue;
    const std::string about = each.namespace_name.empty() ? each.about : each.namespace_name + "/" + each.about;
    out.table.rows.push_back({about, options.wide ? each.text : cut_text(each.text, 90), each.command});
  }
  return out;
}

}  // namespace tpuslice::fleet
