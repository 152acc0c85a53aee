#include "controllers/slice/slice.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/hash.h"
#include "tpu/labels.h"
#include "tpu/placement.h"

namespace tpuslice::slice {
namespace {

constexpr std::size_t kMembersLength = 13;

/// Slices are not larger than this; what a pod says beyond it is no number of hosts.
constexpr int kMostHosts = 100'000;

std::optional<int> number(const std::string& text) {
  const std::optional<int> value = whole_number(text);
  return value && *value <= kMostHosts ? value : std::nullopt;
}

/// Of two live pods with one index the older keeps the place.
bool older(const PodPtr& a, const PodPtr& b) {
  const auto rank = [](const PodPtr& pod) { return std::tuple(pod->finished(), pod->created, pod->key, pod->uid); };
  return rank(a) < rank(b);
}

void take_host(Slice& slice, const PodPtr& pod, int index) {
  if (static_cast<std::size_t>(index) >= slice.hosts.size()) {
    slice.surplus.push_back(pod);
    return;
  }
  PodPtr& place = slice.hosts[static_cast<std::size_t>(index)];
  if (place == nullptr) {
    place = pod;
    return;
  }
  PodPtr loser = pod;
  if (older(pod, place)) std::swap(loser, place);
  if (!loser->finished()) slice.surplus.push_back(loser);
}

void take(Slice& slice, const PodPtr& pod) {
  const std::optional<int> index = host_index(*pod);
  if (pod->terminating()) {
    if (index) slice.leaving.push_back(pod);
  } else if (pod->phase == PodPhase::kFailed) {
    if (index) slice.failed.push_back(pod);
  } else if (index) {
    take_host(slice, pod, *index);
  } else if (!pod->finished()) {
    slice.companions.push_back(pod);
  }
}

Start start_of(const std::string& text) {
  if (text == tpu::kFirstHostFirst) return Start::kFirstHostFirst;
  if (text == tpu::kFirstHostAlone) return Start::kFirstHostAlone;
  return Start::kTogether;
}

/// Pods of one slice agree, but for those that admission never saw.
void read_annotations(Slice& slice, const std::vector<PodPtr>& pods) {
  int hosts = 0;
  std::vector<PodPtr> in_order = pods;
  // What ended may be of an earlier slice of that name, of another size.
  std::ranges::stable_partition(in_order, [](const PodPtr& pod) { return is_live(*pod); });
  for (const PodPtr& pod : in_order) {
    const std::optional<int> told = number(annotation(*pod, tpu::kSliceHosts));
    if (!told || hosts > 0) continue;
    hosts = *told;
    slice.topology_key = annotation(*pod, tpu::kTopologyKey);
    slice.start = start_of(annotation(*pod, tpu::kSliceStart));
    slice.gang = annotation(*pod, tpu::kSliceGang);
    slice.gang_slices = slice.gang.empty() ? 1 : number(annotation(*pod, tpu::kGangSlices)).value_or(1);
  }
  slice.hosts.resize(static_cast<std::size_t>(hosts));
}

}  // namespace

const std::string& annotation(const PodView& pod, std::string_view name) {
  static const std::string kNone;
  const auto found = pod.annotations.find(name);
  return found == pod.annotations.end() ? kNone : found->second;
}

bool is_live(const PodView& pod) { return !pod.terminating() && !pod.finished(); }

std::optional<int> host_index(const PodView& pod) {
  if (const std::string& host = annotation(pod, tpu::kSliceHost); !host.empty()) return number(host);
  const bool born_of_template = annotation(pod, tpu::kBorn) == tpu::kBornOfTemplate;
  return born_of_template ? number(pod.label(tpu::kCompletionIndex)) : std::nullopt;
}

bool is_gated(const PodView& pod) { return std::ranges::count(pod.scheduling_gates, tpu::kSliceGate) > 0; }

std::string user_of(const PodView& pod) {
  const std::string& slice = pod.label(tpu::kSlice);
  if (slice.empty() || slice == tpu::kNoSlice) return pod.key.to_string();
  return fmt::format("{} ({})", workload_of(pod).key.to_string(), tpu::name_in_slice_key(slice));
}

std::string name_of(const Slice& slice) {
  const PodPtr pod = slice.any();
  return pod == nullptr ? slice.key.to_string() : user_of(*pod);
}

std::string short_name(const Slice& slice) { return std::string(tpu::name_in_slice_key(slice.key.name)); }

Slice read_slice(const ObjectKey& key, const std::vector<PodPtr>& pods) {
  Slice slice;
  slice.key = key;
  read_annotations(slice, pods);
  for (const PodPtr& pod : pods) take(slice, pod);
  return slice;
}

std::vector<Slice> read_slices(const std::vector<PodPtr>& pods) {
  std::map<ObjectKey, std::vector<PodPtr>> by_slice;
  // They come by name, those of a slice mostly one after the other.
  auto latest = by_slice.end();
  for (const PodPtr& pod : pods) {
    const std::string& label = pod->label(tpu::kSlice);
    if (label.empty() || label == tpu::kNoSlice) continue;
    const std::string& space = pod->key.namespace_name;
    if (latest == by_slice.end() || latest->first.name != label || latest->first.namespace_name != space) {
      latest = by_slice.try_emplace({space, label}).first;
    }
    latest->second.push_back(pod);
  }
  std::vector<Slice> slices;
  for (const auto& [key, members] : by_slice) slices.push_back(read_slice(key, members));
  return slices;
}

std::vector<PodPtr> Slice::live() const {
  std::vector<PodPtr> out;
  for (const PodPtr& pod : hosts) {
    if (pod != nullptr && !pod->finished()) out.push_back(pod);
  }
  out.insert(out.end(), companions.begin(), companions.end());
  return out;
}

std::vector<PodPtr> Slice::started() const {
  std::vector<PodPtr> out;
  for (const PodPtr& pod : hosts) {
    if (pod != nullptr && !pod->finished() && !is_gated(*pod)) out.push_back(pod);
  }
  return out;
}

PodPtr Slice::any() const {
  for (const PodPtr& pod : hosts) {
    if (pod != nullptr) return pod;
  }
  for (const auto* pods : {&companions, &leaving, &failed, &surplus}) {
    if (!pods->empty()) return pods->front();
  }
  return nullptr;
}

std::int32_t Slice::priority() const {
  const PodPtr pod = any();
  return pod == nullptr ? 0 : pod->priority;
}

Timestamp Slice::waiting_since() const {
  Timestamp first = Timestamp::max();
  for (const PodPtr& pod : live()) first = std::min(first, pod->created.value_or(Timestamp::max()));
  return first;
}

Timestamp Slice::complete_since() const {
  Timestamp last = Timestamp::min();
  for (const PodPtr& pod : live()) last = std::max(last, pod->created.value_or(Timestamp::min()));
  return last;
}

std::string members_of(const Slice& slice) {
  std::string uids;
  for (const PodPtr& pod : slice.hosts) {
    if (pod == nullptr) return std::string(kOpenMembers);
    uids += pod->uid + "/";
  }
  return short_hash(uids, kMembersLength);
}

runtime::ObjectReference workload_of(const PodView& pod) {
  const std::string& job_set = pod.label(tpu::kJobSetName);
  const std::string& space = pod.key.namespace_name;
  if (!job_set.empty()) {
    return {"jobset.x-k8s.io/v1alpha2", "JobSet", {space, job_set}, pod.label(tpu::kJobSetUid), {}};
  }
  if (pod.controller) {
    const ControllerRef& owner = *pod.controller;
    return {owner.api_version, owner.kind, {space, owner.name}, owner.uid, {}};
  }
  return {"v1", "Pod", pod.key, pod.uid, pod.resource_version};
}

}  // namespace tpuslice::slice
