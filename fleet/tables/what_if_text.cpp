#include <fmt/format.h>

#include "api/base/strings.h"
#include "fleet/tables/texts.h"

namespace tpuslice::fleet {
namespace {

/// What happens to the slice, in a word or two.
std::string effect_text(const SliceEffect& effect) {
  if (effect.deleted) return "is deleted";
  if (effect.ends) return "ends";
  if (effect.is_new) return "is new";
  if (effect.before.empty() && !effect.after.empty()) return "starts";
  if (!effect.before.empty() && effect.after.empty()) return "does not start";
  if (effect.before != effect.after) return "starts elsewhere";
  return effect.position_after > effect.position_before ? "waits longer" : "moves up";
}

std::string then_text(const SliceEffect& effect) {
  if (effect.deleted) return "-";
  if (!effect.after.empty()) return effect.after;
  if (effect.never) return "waits, does not start as the cluster would be";
  if (effect.position_after == 0) return "waits";
  return fmt::format("waits, {} of {}", ordinal(effect.position_after), effect.queued_after);
}

std::string now_text(const SliceEffect& effect, Timestamp now) {
  if (effect.is_new) return "-";
  const FleetSlice& slice = effect.slice;
  if (slice.state == SliceState::kWaiting) {
    return slice.position > 0 ? fmt::format("waits, {}", ordinal(slice.position)) : "waits";
  }
  return slice.since ? fmt::format("{} for {}", slice.pool, age_text(slice.since, now)) : slice.pool;
}

}  // namespace

std::string what_if_text(const WhatIf& answer, Timestamp now, const TableOptions& options) {
  std::string out;
  for (const std::string& change : answer.changes) out += fmt::format("If: {}\n", printable(change));
  out += "\n";
  if (answer.effects.empty()) {
    out += "No slice ends, starts, or waits for longer.\n";
  } else {
    TextTable table{.header = {"WORKLOAD", "SLICE", "HOSTS", "NOW", "THEN IT", "AND RUNS ON"}};
    for (const SliceEffect& effect : answer.effects) {
      if (!options.all && table.rows.size() == kMaxRows) break;
      const FleetSlice& slice = effect.slice;
      table.rows.push_back({to_string(slice.workload), slice.slice, std::to_string(slice.hosts), now_text(effect, now),
                            effect_text(effect), then_text(effect)});
    }
    out += to_text(table);
    const std::size_t more = answer.effects.size() - table.rows.size();
    if (more > 0) out += more_text(more) + "\n";
  }
  out += fmt::format("\nChips in use: {}, without the change {}. Slices that wait: {}, without it {}.\n",
                     answer.chips_after, answer.chips_before, answer.waiting_after, answer.waiting_before);
  return out;
}

}  // namespace tpuslice::fleet
