#include "controllers/slice/slice.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "api/base/strings.h"
#include "tpu/catalog.h"
#include "tpu/chips.h"
#include "tpu/labels.h"
#include "tpu/placement.h"
#include "tpu/workload_ref.h"

namespace tpuslice::slice {
namespace {

constexpr std::size_t kMembersLength = 13;

std::optional<int> parse_host_count(const std::string& text) {
  const std::optional<int> value = parse_count(text);
  return value && *value <= tpu::kMaxSliceHosts ? value : std::nullopt;
}

using HostsByIndex = std::map<int, PodPtr>;

/// Order of two pods with the same host index: live ones before succeeded ones, then older before younger.
bool precedes(const PodPtr& a, const PodPtr& b) {
  const auto rank = [](const PodPtr& pod) { return std::tuple(pod->finished(), pod->created, pod->key, pod->uid); };
  return rank(a) < rank(b);
}

void add_host(Slice& slice, HostsByIndex& hosts, const PodPtr& pod, int index) {
  if (index >= slice.size) {
    slice.surplus.push_back(pod);
    return;
  }
  PodPtr& host = hosts[index];
  if (host == nullptr) {
    host = pod;
    return;
  }
  PodPtr duplicate = pod;
  if (precedes(pod, host)) std::swap(duplicate, host);
  if (!duplicate->finished()) slice.surplus.push_back(duplicate);
}

void add_pod(Slice& slice, HostsByIndex& hosts, const PodPtr& pod) {
  const std::optional<int> index = host_index(*pod);
  if (pod->terminating()) {
    if (index) slice.terminating.push_back(pod);
  } else if (pod->phase == PodPhase::kFailed) {
    if (index) slice.failed.push_back(pod);
  } else if (index) {
    add_host(slice, hosts, pod, *index);
  } else if (!pod->finished()) {
    slice.companions.push_back(pod);
  }
}

Start start_of(const std::string& text) {
  if (text == tpu::kOthersFollowHost0) return Start::kOthersFollowHost0;
  if (text == tpu::kHost0IfAlone) return Start::kHost0IfAlone;
  if (text == tpu::kHostByHost) return Start::kHostByHost;
  return Start::kTogether;
}

/// All pods of a slice have the same annotations, except pods that were not admitted.
void read_annotations(Slice& slice, const std::vector<PodPtr>& pods) {
  std::vector<PodPtr> in_order = pods;
  // Terminal pods may belong to an earlier slice of that name with another size.
  std::ranges::stable_partition(in_order, [](const PodPtr& pod) { return is_live(*pod); });
  for (const PodPtr& pod : in_order) {
    const std::optional<int> count = parse_host_count(pod->annotation(tpu::kSliceHosts));
    if (!count || slice.size > 0) continue;
    slice.size = *count;
    slice.topology_key = pod->annotation(tpu::kTopologyKey);
    slice.start = start_of(pod->annotation(tpu::kSliceStart));
    slice.gang = pod->annotation(tpu::kSliceGang);
    slice.gang_slices = slice.gang.empty() ? 1 : parse_host_count(pod->annotation(tpu::kGangSlices)).value_or(1);
  }
}

/// Pods of another workload of that name do not count, nor those of a gang that have never started: it has not run.
Timestamp queued_since_of(const Slice& slice) {
  const std::vector<PodPtr> live = slice.live();
  Timestamp since = Timestamp::max();
  for (const PodPtr& pod : live) since = std::min(since, queued_since(*pod));
  for (const auto* lost : {&slice.terminating, &slice.failed}) {
    for (const PodPtr& pod : *lost) {
      if (live.empty() || workload_of(*pod) != workload_of(*live.front())) continue;
      if (!slice.gang.empty() && pod->annotation(tpu::kSliceMembers).empty()) continue;
      since = std::min(since, queued_since(*pod));
    }
  }
  return since;
}

/// Hosts that had succeeded before they were deleted. A finalizer may still keep their pods.
void add_removed_hosts(Slice& slice, const HostsByIndex& hosts, const RemovedHosts& removed) {
  const auto add = [&](int index, const std::string& uid) {
    return index < slice.size && !hosts.contains(index) && slice.removed.emplace(index, uid).second;
  };
  for (const auto& [index, host] : hosts) {
    const std::string& record = host->annotation(tpu::kRemovedHosts);
    if (record.empty() || is_gated(*host)) continue;
    for (const std::string& entry : split(record, ',')) {
      const std::size_t end = std::min(entry.find('='), entry.size());
      const std::optional<int> removed_index = parse_integer<int>(entry.substr(0, end));
      if (removed_index && *removed_index >= 0 && end < entry.size()) add(*removed_index, entry.substr(end + 1));
    }
  }
  std::erase_if(slice.terminating, [&](const PodPtr& pod) {
    return pod->phase == PodPhase::kSucceeded && add(*host_index(*pod), pod->uid);
  });
  if (const auto found = removed.find(slice.key); found != removed.end()) {
    for (const auto& [index, uid] : found->second) add(index, uid);
  }
}

}  // namespace

bool is_live(const PodView& pod) { return !pod.terminating() && !pod.finished(); }

bool is_considered(const PodView& pod) {
  return !pod.label(tpu::kSlice).empty() || (tpu::chips_of(pod) > 0 && !pod.node_name.empty());
}

bool has_tpus(const NodeView& node) { return !accelerator_of(node.labels).empty(); }
const std::string& accelerator_of(const StringMap& labels) { return value_of(labels, tpu::kAcceleratorLabel); }

bool in_slice(const PodView& pod) {
  const std::string& slice = pod.label(tpu::kSlice);
  return !slice.empty() && slice != tpu::kNoSlice;
}

ObjectKey slice_key(const PodView& pod) { return {pod.key.namespace_name, pod.label(tpu::kSlice)}; }

std::optional<int> host_index(const PodView& pod) {
  if (const std::string& host = pod.annotation(tpu::kSliceHost); !host.empty()) return parse_host_count(host);
  const bool mutated_by_template = pod.annotation(tpu::kMutatedBy) == tpu::kMutatedByJobTemplate;
  return mutated_by_template ? parse_host_count(pod.label(tpu::kCompletionIndex)) : std::nullopt;
}

bool is_gated(const PodView& pod) { return std::ranges::count(pod.scheduling->gates, tpu::kSliceGate) > 0; }

std::string display_name(const PodView& pod) {
  if (!in_slice(pod)) return pod.key.to_string();
  return fmt::format("{} ({})", workload_of(pod).key.to_string(), tpu::name_in_slice_key(pod.label(tpu::kSlice)));
}

std::string display_name(const Slice& slice) {
  const PodPtr pod = slice.any_pod();
  return pod == nullptr ? slice.key.to_string() : display_name(*pod);
}

std::string visible_name(const std::string& name, std::string_view viewer) {
  const bool own = name.size() > viewer.size() && name.starts_with(viewer) && name[viewer.size()] == '/';
  return viewer.empty() || own ? name : "a workload of another namespace";
}

std::string short_name(const Slice& slice) { return std::string(tpu::name_in_slice_key(slice.key.name)); }

Slice read_slice(const ObjectKey& key, const std::vector<PodPtr>& pods, const RemovedHosts& removed) {
  Slice slice;
  slice.key = key;
  read_annotations(slice, pods);
  HostsByIndex hosts;
  for (const PodPtr& pod : pods) add_pod(slice, hosts, pod);
  const bool any_started = std::ranges::any_of(
      hosts, [](const auto& entry) { return !entry.second->finished() && !is_gated(*entry.second); });
  if (any_started) add_removed_hosts(slice, hosts, removed);  // A later attempt has none.
  for (auto& [index, pod] : hosts) slice.hosts.push_back(std::move(pod));
  slice.queued_since = queued_since_of(slice);
  return slice;
}

std::string record_of_removed_hosts(const Slice& slice) {
  constexpr std::size_t kMaxBytes = 32U << 10U;
  std::string record;
  for (const auto& [index, uid] : slice.removed) {
    if (record.size() > kMaxBytes) break;
    record += fmt::format("{}{}={}", record.empty() ? "" : ",", index, uid);
  }
  return record;
}

std::map<ObjectKey, std::vector<PodPtr>> group_by_slice(const std::vector<PodPtr>& pods) {
  std::map<ObjectKey, std::vector<PodPtr>> by_slice;
  // Sorted by name, so most pods of a slice follow each other.
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
  return by_slice;
}

std::vector<PodPtr> Slice::live() const {
  std::vector<PodPtr> out;
  for (const PodPtr& pod : hosts) {
    if (!pod->finished()) out.push_back(pod);
  }
  out.insert(out.end(), companions.begin(), companions.end());
  return out;
}

std::vector<PodPtr> Slice::started() const {
  std::vector<PodPtr> out;
  for (const PodPtr& pod : hosts) {
    if (!pod->finished() && !is_gated(*pod)) out.push_back(pod);
  }
  return out;
}

PodPtr Slice::any_pod() const {
  for (const auto* pods : {&hosts, &companions, &terminating, &failed, &surplus}) {
    if (!pods->empty()) return pods->front();
  }
  return nullptr;
}

PodPtr Slice::host0() const {
  if (hosts.empty() || host_index(*hosts.front()) != 0) return nullptr;
  const auto live = std::ranges::find_if(hosts, [](const PodPtr& pod) { return !pod->finished(); });
  return live == hosts.end() ? hosts.front() : *live;
}

std::int32_t Slice::priority() const {
  const PodPtr pod = any_pod();
  return pod == nullptr ? 0 : pod->priority;
}

Timestamp Slice::first_created() const {
  Timestamp first = Timestamp::max();
  for (const PodPtr& pod : live()) first = std::min(first, pod->created.value_or(Timestamp::max()));
  return first;
}

std::optional<Timestamp> Slice::inherited_place() const {
  return queued_since < first_created() ? std::optional(queued_since) : std::nullopt;
}

Timestamp Slice::last_created() const {
  Timestamp last = Timestamp::min();
  for (const PodPtr& pod : live()) last = std::max(last, pod->created.value_or(Timestamp::min()));
  return last;
}

Timestamp queued_since(const PodView& pod) {
  const Timestamp created = pod.created.value_or(Timestamp::max());
  return std::min(created, parse_rfc3339(pod.annotation(tpu::kQueuedSince)).value_or(created));
}

Timestamp placed_at(const Slice& slice) {
  Timestamp placed{};
  for (const PodPtr& pod : slice.started()) {
    placed = std::max(placed, parse_rfc3339(pod->annotation(tpu::kPlacedAt)).value_or(Timestamp{}));
  }
  return placed;
}

std::string members_of(const Slice& slice) {
  if (!slice.has_all_hosts()) return std::string(kOpenMembers);
  std::map<int, std::string> by_index = slice.removed;
  for (const PodPtr& pod : slice.hosts) by_index[host_index(*pod).value_or(0)] = pod->uid;
  std::string uids;
  for (const auto& [index, uid] : by_index) uids += uid + "/";
  return short_hash(uids, kMembersLength);
}

plan::ObjectReference workload_of(const PodView& pod) {
  const std::optional<tpu::WorkloadRef> workload = tpu::workload_of(pod);
  if (!workload) return {"v1", "Pod", pod.key, pod.uid, pod.resource_version};
  return {workload->api_version, workload->kind, {pod.key.namespace_name, workload->name}, workload->uid, {}};
}

}  // namespace tpuslice::slice
