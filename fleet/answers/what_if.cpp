#include "fleet/answers/what_if.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "fleet/answers/status.h"
#include "fleet/fleet_json.h"

namespace tpuslice::fleet {
namespace {

using SlicesByKey = std::map<ObjectKey, const FleetSlice*>;

ObjectKey key_of(const FleetSlice& slice) { return {slice.workload.namespace_name, slice.key}; }

SlicesByKey by_key(const Fleet& fleet) {
  SlicesByKey out;
  for (const FleetSlice& slice : fleet.slices) out.emplace(key_of(slice), &slice);
  return out;
}

const FleetSlice* find(const SlicesByKey& slices, const ObjectKey& key) {
  const auto found = slices.find(key);
  return found == slices.end() ? nullptr : found->second;
}

bool has_nodes(const FleetSlice& slice) {
  return slice.state == SliceState::kPlaced || slice.state == SliceState::kRunning;
}

std::string pool_of(const FleetSlice* slice) { return slice == nullptr || !has_nodes(*slice) ? "" : slice->pool; }

bool waits(const FleetSlice& slice) { return slice.state == SliceState::kWaiting; }

std::int64_t count_waiting(const Fleet& fleet) { return std::ranges::count_if(fleet.slices, waits); }

std::int64_t count_chips(const Fleet& fleet) {
  std::int64_t chips = 0;
  for (const Pool& pool : fleet.pools) chips += chips_in_use(pool);
  return chips;
}

std::int64_t queue_length(const Fleet& fleet, const FleetSlice& slice) {
  std::int64_t last = 0;
  for (const FleetSlice& each : fleet.slices) {
    if (each.tpu == slice.tpu && each.topology == slice.topology) last = std::max(last, each.position);
  }
  return last;
}

/// The pods of the slices that have started, by slice.
std::map<ObjectKey, std::set<std::string>> started_pods(const Snapshot& snapshot) {
  std::map<ObjectKey, std::set<std::string>> out;
  for (const PodPtr& pod : snapshot.pods) {
    if (placement::in_slice(*pod) && placement::is_live(*pod) && !placement::is_gated(*pod)) {
      out[placement::slice_key(*pod)].insert(pod->uid);
    }
  }
  return out;
}

}  // namespace

WhatIf what_if(const Snapshot& snapshot, const std::vector<Change>& changes) {
  const Fleet now = build_fleet(snapshot);
  const Fleet without = build_fleet(settled(snapshot));
  Snapshot changed = snapshot;
  WhatIf out;
  for (const Change& change : changes) {
    changed = with_change(std::move(changed), change);
    out.changes.push_back(change.text);
  }
  changed = settled(std::move(changed));
  const Fleet with = build_fleet(changed);
  const SlicesByKey before = by_key(without);
  const SlicesByKey after = by_key(with);
  const auto pods_before = started_pods(snapshot);
  const auto pods_after = started_pods(changed);
  std::set<ObjectKey> keys;
  for (const SlicesByKey* slices : {&before, &after}) {
    for (const auto& [key, slice] : *slices) keys.insert(key);
  }
  const SlicesByKey current = by_key(now);
  for (const ObjectKey& key : keys) {
    const FleetSlice* const old = find(before, key);
    const FleetSlice* const last = find(after, key);
    const FleetSlice* const shown = find(current, key) != nullptr ? find(current, key) : old != nullptr ? old : last;
    SliceEffect effect{.slice = *shown,
                       .deleted = last == nullptr,
                       .is_new = old == nullptr,
                       .before = pool_of(old),
                       .after = pool_of(last)};
    if (old != nullptr) effect.position_before = old->position;
    if (last != nullptr) {
      effect.position_after = last->position;
      effect.queued_after = queue_length(with, *last);
      effect.never = last->never;
    }
    const auto started = pods_before.find(key);
    if (started != pods_before.end()) {
      const auto still = pods_after.find(key);
      effect.ends = still == pods_after.end() || !std::ranges::includes(still->second, started->second);
    }
    const bool differs = effect.ends || effect.deleted || effect.is_new || effect.before != effect.after ||
                         effect.position_before != effect.position_after;
    if (differs) out.effects.push_back(std::move(effect));
  }
  std::ranges::stable_sort(out.effects, {}, [](const SliceEffect& effect) {
    return std::tuple(!effect.ends, effect.slice.position, effect.slice.workload, effect.slice.key);
  });
  out.chips_before = count_chips(without);
  out.chips_after = count_chips(with);
  out.waiting_before = count_waiting(without);
  out.waiting_after = count_waiting(with);
  return out;
}

Json write_what_if(const WhatIf& answer) {
  Json effects = Json::array();
  for (const SliceEffect& effect : answer.effects) {
    effects.push_back({{"slice", write_slice(effect.slice)},
                       {"ends", effect.ends},
                       {"deleted", effect.deleted},
                       {"new", effect.is_new},
                       {"before", effect.before},
                       {"after", effect.after},
                       {"positionBefore", effect.position_before},
                       {"positionAfter", effect.position_after},
                       {"never", effect.never}});
  }
  return {{"schema", kFleetSchema},
          {"changes", answer.changes},
          {"effects", std::move(effects)},
          {"chipsInUse", {{"before", answer.chips_before}, {"after", answer.chips_after}}},
          {"waiting", {{"before", answer.waiting_before}, {"after", answer.waiting_after}}}};
}

}  // namespace tpuslice::fleet
