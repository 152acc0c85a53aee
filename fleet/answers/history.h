// The history of interruptions: what was lost and how much of the fleet's work that was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model.h"

namespace tpuslice::fleet {

struct HistoryQuery {
  std::optional<Timestamp> since;  ///< Earlier records are left out.
  std::string namespace_name;      ///< Empty: all.
  std::string kind;                ///< In lower case; empty: all.
  std::string name;                ///< Name of the workload; empty: all.
  std::string pool;                ///< Empty: all.
};

struct HistoryAnswer {
  std::vector<HistoryRecord> records;  ///< The latest last.
  std::int64_t lost_host_seconds = 0;  ///< All of them together.
  std::int64_t work_host_seconds =
      0;                   ///< Seconds that hosts in use have run since then, if none had been lost; 0: unknown.
  std::string worst_node;  ///< The node that most of them began with; empty if none had two.
  std::int64_t worst_count = 0;

  /// Per cent of the hosts' time in use that was not lost; absent if it is not known.
  [[nodiscard]] std::optional<double> goodput() const;
};

/// `fleet`: as it is now; hosts that slices use now count since they were placed, or since `query.since`.
[[nodiscard]] HistoryAnswer history_of(const std::vector<HistoryRecord>& records, const Fleet& fleet,
                                       const HistoryQuery& query);

[[nodiscard]] Json write_history(const HistoryAnswer& answer);

}  // namespace tpuslice::fleet
