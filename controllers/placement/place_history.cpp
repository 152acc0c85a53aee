#include "controllers/placement/place_history.h"

#include <algorithm>

#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

/// A gang that has never run starts together, however often its pods are replaced: the place of one that waits is not
/// recorded, so a slice of a gang that has a place has run (Slice::inherited_place).
bool is_gang_that_waits(const PodView& pod) {
  return !pod.annotation(tpu::kSliceGang).empty() && pod.annotation(tpu::kSliceMembers).empty();
}

bool is_placed(const PodPtr& pod) { return pod != nullptr && !pod->annotation(tpu::kSliceMembers).empty(); }

/// The pod no longer runs, and has not succeeded; or it had begun to terminate and is gone now.
bool is_loss(const PodView& before, const PodPtr& after) {
  if (before.phase == PodPhase::kSucceeded) return false;
  if (after == nullptr) return is_live(before) || before.terminating();
  return is_live(before) && !is_live(*after) && after->phase != PodPhase::kSucceeded;
}

}  // namespace

FormerPlaces& PlaceHistory::writable_locked() {
  if (places_.use_count() > 1) places_ = std::make_shared<FormerPlaces>(*places_);
  return *places_;
}

void PlaceHistory::record(const PodPtr& before, const PodPtr& after, const NodePtr& node, Timestamp now) {
  if (after != nullptr && in_slice(*after) && is_placed(after) && !is_placed(before)) {
    const MutexLock lock(mutex_);
    if (places_->contains(slice_key(*after))) writable_locked().erase(slice_key(*after));
    return;
  }
  if (before == nullptr || !in_slice(*before) || is_gang_that_waits(*before) || !is_loss(*before, after)) return;
  const ObjectKey slice = slice_key(*before);
  FormerPlace place{.workload = workload_of(*before),
                    .queued_since = slice::queued_since(*before),
                    .left = now,
                    .priority = before->priority,
                    .user = display_name(*before),
                    .was_preempted = (after == nullptr ? before : after)->disruption == tpu::kPreemptionBySlice};
  if (is_placed(before)) {
    const std::string& key = before->annotation(tpu::kTopologyKey);
    place.domain = {key, node == nullptr ? std::string() : domain_of_node(*node, key)};
  }
  const MutexLock lock(mutex_);
  FormerPlaces& places = writable_locked();
  if (const auto known = places.find(slice); known != places.end()) {
    const FormerPlace& other = known->second;
    if (other.workload == place.workload) {
      place.queued_since = std::min(place.queued_since, other.queued_since);
      const bool had_no_node = !other.domain.first.empty() && other.domain.second.empty();
      if (had_no_node || place.domain.first.empty()) place.domain = other.domain;
      place.was_preempted = place.was_preempted || other.was_preempted;
    }
    known->second = std::move(place);
    return;
  }
  places.emplace(slice, std::move(place));
  if (now >= cleaned_ + kWindow) {
    cleaned_ = now;
    std::erase_if(places, [&](const auto& each) { return now > each.second.left + kWindow; });
  }
  if (places.size() <= kMaxSlices) return;
  places.erase(std::ranges::min_element(places, {}, [](const auto& entry) { return entry.second.left; }));
}

std::shared_ptr<const FormerPlaces> PlaceHistory::places() const {
  const MutexLock lock(mutex_);
  return places_;
}

}  // namespace tpuslice::placement
