#include "controllers/placement/gang.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

/// Allowance for the time from the placement of a pod to the start of its deadline, and from its deadline to the end of
/// its containers.
constexpr Duration kStartAndStop = std::chrono::minutes(2);

bool has_chosen_nodes(const Gang& gang) {
  return std::ranges::any_of(gang.slices, [](const Slice* slice) {
    const PodPtr pod = slice->any_pod();
    return pod != nullptr && pod->scheduling->node_selector.contains(tpu::kHostnameLabel);
  });
}

auto rank(const Gang& gang) {
  return std::tuple(-std::int64_t{gang.priority()}, !has_chosen_nodes(gang), gang.queued_since(),
                    gang.slices.front()->key);
}

/// Gangs by namespace, gang and, for a slice without gang, its name.
using GangsByName = std::map<std::tuple<std::string, std::string, std::string>, Gang>;

/// Adds the placed slices to their gangs.
void add_running(const RunningSlices& placed, GangsByName& gangs) {
  using Name = std::pair<std::string_view, std::string_view>;  // Views of the keys of `gangs`.
  std::map<Name, Gang*> named;
  for (auto& [name, gang] : gangs) {
    if (!std::get<1>(name).empty()) named.emplace(Name(std::get<0>(name), std::get<1>(name)), &gang);
  }
  if (named.empty()) return;
  for (const auto& [key, slice] : placed) {
    if (slice->gang.empty()) continue;
    const auto gang = named.find(Name(key.namespace_name, slice->gang));
    if (gang != named.end()) gang->second->running.push_back(slice);
  }
}

}  // namespace

std::int32_t Gang::priority() const {
  return std::ranges::max(slices, {}, [](const Slice* slice) { return slice->priority(); })->priority();
}

Timestamp Gang::queued_since() const {
  Timestamp since = slices.front()->queued_since;
  for (const auto* const some : {&slices, &running}) {
    for (const Slice* slice : *some) since = std::min(since, slice->queued_since);
  }
  return since;
}

std::size_t Gang::size(const GangCounts& placed_gangs) const {
  const auto placed = placed_gangs.find({namespace_name(), slices.front()->gang});
  return slices.size() + (placed == placed_gangs.end() ? 0 : placed->second);
}

std::optional<Timestamp> Gang::heals_from() const {
  if (std::ranges::any_of(slices, [](const Slice* slice) { return !slice->inherited_place(); })) return std::nullopt;
  const auto created = [](const Slice* slice) { return slice->last_created(); };
  return created(std::ranges::max(slices, {}, created)) + slice::kMissingPodsTimeout;
}

std::optional<Timestamp> Gang::ends_by(Timestamp now) const {
  std::optional<Timestamp> last;
  for (const Slice* slice : slices) {
    const std::optional<Timestamp> end = placement::ends_by(*slice, now);
    if (!end) return std::nullopt;
    last = std::max(last.value_or(*end), *end);
  }
  return last;
}

std::optional<Timestamp> ends_by(const Slice& slice, Timestamp start) {
  std::optional<Timestamp> last;
  for (const PodPtr& pod : slice.hosts) {
    // A larger deadline counts as none.
    constexpr std::int64_t kMaxSeconds = 10LL * 365 * 24 * 3600;
    if (!pod->active_deadline_seconds || *pod->active_deadline_seconds > kMaxSeconds) return std::nullopt;
    const Timestamp end = start + std::chrono::seconds(*pod->active_deadline_seconds) + kStartAndStop;
    last = std::max(last.value_or(end), end);
  }
  return last;
}

std::vector<Gang> gangs_in_order(const std::vector<const Slice*>& ready, const RunningSlices& placed) {
  GangsByName by_name;
  for (const Slice* slice : ready) {
    const std::string own_name = slice->gang.empty() ? slice->key.name : std::string();
    by_name[{slice->key.namespace_name, slice->gang, own_name}].slices.push_back(slice);
  }
  add_running(placed, by_name);
  std::vector<std::pair<decltype(rank(std::declval<Gang>())), Gang>> ranked;
  for (auto& [name, gang] : by_name) {
    auto position = rank(gang);
    ranked.emplace_back(std::move(position), std::move(gang));
  }
  std::ranges::sort(ranked, {}, [](const auto& entry) { return entry.first; });
  std::vector<Gang> gangs;
  gangs.reserve(ranked.size());
  for (auto& [position, gang] : ranked) gangs.push_back(std::move(gang));
  return gangs;
}

}  // namespace tpuslice::placement
