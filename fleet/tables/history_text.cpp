#include <fmt/format.h>

#include "fleet/tables/texts.h"

namespace tpuslice::fleet {

std::string history_text(const HistoryAnswer& answer, Timestamp now, const TableOptions& options) {
  if (answer.records.empty()) return "No interruptions are recorded.\n";
  const std::size_t more = options.all || answer.records.size() <= kMaxRows ? 0 : answer.records.size() - kMaxRows;
  const std::vector<HistoryRecord> shown(answer.records.begin() + static_cast<std::ptrdiff_t>(more),
                                         answer.records.end());
  std::string out;
  if (more > 0) out += fmt::format("{} earlier ones, --all shows them\n", more);
  out += to_text(history_table(shown, now));
  out += fmt::format("\n{}, {:.1f} host-hours lost",
                     counted(static_cast<std::int64_t>(answer.records.size()), "interruption"),
                     static_cast<double>(answer.lost_host_seconds) / 3600);
  if (const auto goodput = answer.goodput()) {
    out += fmt::format(" of {:.1f} ({:.1f}% goodput)", static_cast<double>(answer.work_host_seconds) / 3600, *goodput);
  }
  if (!answer.worst_node.empty())
    out += fmt::format("; worst node: {} ({})", printable(answer.worst_node), answer.worst_count);
  return out + "\n";
}

}  // namespace tpuslice::fleet
