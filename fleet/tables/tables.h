// The tables of a fleet, in plain ASCII.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api/base/text_table.h"
#include "fleet/answers/status.h"
#include "fleet/model.h"

namespace tpuslice::fleet {

struct TableOptions {
  bool wide = false;
  bool all = false;            ///< All rows; else the first kMaxRows.
  bool show_namespace = true;  ///< Names of workloads begin with their namespace.
};

inline constexpr std::size_t kMaxRows = 50;

/// A table, and what was left out of it.
struct Rows {
  TextTable table;
  std::size_t more = 0;  ///< Rows that were left out.
};

/// "and 12 more, --all shows them"; empty if nothing was left out.
[[nodiscard]] std::string more_text(std::size_t more);

[[nodiscard]] Rows status_table(const std::vector<StatusRow>& rows, Timestamp now, const TableOptions& options = {});
[[nodiscard]] Rows pools_table(const std::vector<Pool>& pools, Timestamp now, const TableOptions& options = {});
[[nodiscard]] Rows slices_table(const std::vector<FleetSlice>& slices, Timestamp now, const TableOptions& options = {});
/// What needs someone, a line each, with the command to type next.
[[nodiscard]] Rows attention_table(const std::vector<Attention>& attention, const TableOptions& options = {});

/// The hosts of a pool, a character each: # in use, . free, r reserved, x broken, c cordoned, m maintenance soon, _
/// missing. For more than 16 hosts it is how many there are of each.
[[nodiscard]] std::string hosts_text(const Pool& pool);
/// "in use"
[[nodiscard]] std::string state_text(PoolState state);
/// "v6e 4x4"
[[nodiscard]] std::string shape_text(const std::string& tpu, const std::string& topology);
/// "41m"; "-" if it is not known.
[[nodiscard]] std::string age_text(const std::optional<Timestamp>& since, Timestamp now);
/// "07:12"; with the date, "2026-01-02 07:12", if it is not the day of `now`. UTC.
[[nodiscard]] std::string clock_text(Timestamp time, Timestamp now);

}  // namespace tpuslice::fleet
