// HistoryRecord: one interruption of a slice, as the operator keeps it for longer than events exist.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::fleet {

struct HistoryRecord {
  Timestamp time;  ///< When the slice was lost.
  std::string namespace_name;
  std::string kind;   ///< Kind of the workload: "RayJob".
  std::string name;   ///< Name of the workload.
  std::string slice;  ///< Name of the slice within its workload; empty: all of the workload.
  std::string what;   ///< "TornDown", "Preempted", "Rejected" or "Restarted".
  std::string code;
  std::string why;                         ///< One sentence.
  std::optional<std::int64_t> host;        ///< Host index of the host that was lost first.
  std::string container;                   ///< Container that failed; empty if none did.
  std::optional<std::int64_t> exit_code;   ///< Exit code of that container.
  std::string node;                        ///< Node of that host.
  std::string pool;                        ///< Pool in which the slice ran.
  std::int64_t lost_host_seconds = 0;      ///< Seconds that the hosts had run, all hosts together.
  std::optional<std::int64_t> back_after;  ///< Seconds until all hosts ran again; absent: they do not.
  std::string back_on;                     ///< Pool in which they run again.

  friend bool operator==(const HistoryRecord&, const HistoryRecord&) = default;
};

/// Members of other types count as absent; texts are bounded. Errors: InvalidArgument without a valid time.
[[nodiscard]] Result<HistoryRecord> read_history_record(const Json& json);
/// A record in each line of the text; others are skipped.
[[nodiscard]] std::vector<HistoryRecord> read_history_lines(std::string_view text);
/// Members without a value are left out.
[[nodiscard]] Json write_history_record(const HistoryRecord& record);

}  // namespace tpuslice::fleet
