#include "fleet/answers/history.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "api/base/strings.h"
#include "fleet/fleet_json.h"

namespace tpuslice::fleet {
namespace {

using std::chrono::duration_cast;
using std::chrono::seconds;

bool matches(const HistoryRecord& record, const HistoryQuery& query) {
  return (!query.since || record.time >= *query.since) &&
         (query.namespace_name.empty() || record.namespace_name == query.namespace_name) &&
         (query.kind.empty() || to_lower(record.kind) == query.kind) &&
         (query.name.empty() || record.name == query.name) && (query.pool.empty() || record.pool == query.pool);
}

/// The time that the hosts of the slices that run now have had, as far as the query asks for it.
std::int64_t running_host_seconds(const Fleet& fleet, const HistoryQuery& query) {
  std::int64_t total = 0;
  for (const FleetSlice& slice : fleet.slices) {
    const bool runs = slice.state == SliceState::kRunning || slice.state == SliceState::kPlaced;
    const WorkloadName& workload = slice.workload;
    const bool wanted = (query.namespace_name.empty() || workload.namespace_name == query.namespace_name) &&
                        (query.kind.empty() || to_lower(workload.kind) == query.kind) &&
                        (query.name.empty() || workload.name == query.name) &&
                        (query.pool.empty() || slice.pool == query.pool);
    if (!runs || !wanted || !slice.since) continue;
    const Timestamp from = std::max(*slice.since, query.since.value_or(*slice.since));
    total += slice.hosts * std::max<std::int64_t>(duration_cast<seconds>(fleet.time - from).count(), 0);
  }
  return total;
}

}  // namespace

std::optional<double> HistoryAnswer::goodput() const {
  if (work_host_seconds <= 0) return std::nullopt;
  const auto useful = static_cast<double>(std::max<std::int64_t>(work_host_seconds - lost_host_seconds, 0));
  return 100 * useful / static_cast<double>(work_host_seconds);
}

HistoryAnswer history_of(const std::vector<HistoryRecord>& records, const Fleet& fleet, const HistoryQuery& query) {
  HistoryAnswer out;
  std::map<std::string, std::int64_t> by_node;
  for (const HistoryRecord& record : records) {
    if (!matches(record, query)) continue;
    out.lost_host_seconds += record.lost_host_seconds;
    if (!record.node.empty()) ++by_node[record.node];
    out.records.push_back(record);
  }
  std::ranges::stable_sort(out.records, {}, &HistoryRecord::time);
  for (const auto& [node, count] : by_node) {
    if (count < 2 || count <= out.worst_count) continue;
    out.worst_node = node;
    out.worst_count = count;
  }
  const std::int64_t running = running_host_seconds(fleet, query);
  if (running > 0) out.work_host_seconds = running + out.lost_host_seconds;
  return out;
}

Json write_history(const HistoryAnswer& answer) {
  Json json = {{"schema", kFleetSchema},
               {"records", Json::array()},
               {"lostHostSeconds", answer.lost_host_seconds},
               {"hostSeconds", answer.work_host_seconds}};
  for (const HistoryRecord& record : answer.records) json["records"].push_back(write_history_record(record));
  if (!answer.worst_node.empty()) json["worstNode"] = {{"name", answer.worst_node}, {"count", answer.worst_count}};
  return json;
}

}  // namespace tpuslice::fleet
