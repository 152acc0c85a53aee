#include "controllers/slice/refused_pods.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "controllers/slice/pod_patches.h"

namespace tpuslice::slice {

const plan::FailedWrite* refused_release(const PodView& pod, const plan::FailedWrites* failed) {
  if (failed == nullptr || failed->empty()) return nullptr;
  const plan::FailedWrite* const release = failed->find(pod.key, kFailedPlaceSlice, pod.uid);
  return release != nullptr && release->keeps_failing() ? release : nullptr;
}

const plan::FailedWrite* refused_release(const Slice& slice, const plan::FailedWrites* failed) {
  if (failed == nullptr || failed->empty()) return nullptr;
  const plan::FailedWrite* last = nullptr;
  for (const PodPtr& pod : slice.live()) {
    const plan::FailedWrite* const release = refused_release(*pod, failed);
    if (release != nullptr && (last == nullptr || release->retry_at > last->retry_at)) last = release;
  }
  return last;
}

bool cannot_be_deleted(const Slice& slice, const plan::FailedWrites* failed) {
  if (failed == nullptr || failed->empty()) return false;
  return std::ranges::any_of(slice.started(), [&](const PodPtr& pod) {
    const plan::FailedWrite* const removal = failed->find(pod->key, kFailedTearDownSlice, pod->uid);
    return removal != nullptr && removal->keeps_failing();
  });
}

std::string explain_refusal(const plan::FailedWrite& release) {
  const bool refused = plan::is_refusal(release.code);
  const bool conflict = release.code == ErrorCode::kConflict;
  return fmt::format("its pods cannot be changed: {}; {}, it is tried again within {} minutes", release.message,
                     refused    ? "correct the pods, or the rule that refuses this"
                     : conflict ? "find out what changes them all the time"
                                : "the API server fails",
                     std::chrono::ceil<std::chrono::minutes>(plan::FailedWrites::kMaxBackoff).count());
}

std::optional<Hold> hold_of_refused(const Slice& slice, const plan::FailedWrites* failed, Timestamp now) {
  const plan::FailedWrite* const release = refused_release(slice, failed);
  if (release == nullptr || !release->is_held({}, now)) return std::nullopt;
  return Hold{explain_refusal(*release), release->retry_at};
}

std::vector<HeldSlice> take_held(std::vector<const Slice*>& ready,
                                 const std::function<std::optional<Hold>(const Slice&)>& hold_of) {
  std::vector<HeldSlice> held;
  // By namespace and gang: the slice that holds the others back.
  std::map<std::pair<std::string, std::string>, HeldSlice> gangs;
  std::erase_if(ready, [&](const Slice* slice) {
    std::optional<Hold> hold = hold_of(*slice);
    if (!hold) return false;
    held.push_back({slice, *std::move(hold)});
    if (!slice->gang.empty()) gangs.try_emplace({slice->key.namespace_name, slice->gang}, held.back());
    return true;
  });
  if (gangs.empty()) return held;
  std::erase_if(ready, [&](const Slice* slice) {
    const auto gang = slice->gang.empty() ? gangs.end() : gangs.find({slice->key.namespace_name, slice->gang});
    if (gang == gangs.end()) return false;
    const HeldSlice& first = gang->second;
    held.push_back({slice,
                    {fmt::format("slice {}, which starts together with it, cannot start: {}", short_name(*first.slice),
                                 first.hold.reason),
                     first.hold.until}});
    return true;
  });
  return held;
}

}  // namespace tpuslice::slice
