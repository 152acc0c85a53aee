#include "controllers/slice/placement_plan.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "controllers/slice/pod_patches.h"
#include "controllers/slice/slice_state.h"
#include "tpu/catalog.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using plan::EventType;
using plan::Measurement;

/// The slices of one accelerator by state.
struct Classified {
  PlacementRequest request;
  std::vector<WaitingSlice> incomplete;
  std::optional<Timestamp> changes_at;
};

/// Released without a domain, and not all its pods are scheduled.
bool is_released(const Slice& slice) {
  const std::vector<PodPtr> live = slice.live();
  const bool without_domain = std::ranges::any_of(
      live, [&](const PodPtr& pod) { return !is_gated(*pod) && pod->annotation(tpu::kPlacedIn).empty(); });
  return without_domain && std::ranges::any_of(live, [](const PodPtr& pod) { return pod->node_name.empty(); });
}

/// Some of its pods were created without a gate, so the gated ones cannot be placed.
bool is_partly_gated(const Slice& slice, Phase phase) {
  return phase == Phase::kUngated &&
         std::ranges::any_of(slice.live(), [](const PodPtr& pod) { return is_gated(*pod); });
}

void set_earlier(std::optional<Timestamp>& when, Timestamp other) { when = std::min(when.value_or(other), other); }

Classified classify(const std::vector<Slice>& slices, Timestamp now, const Options& options) {
  Classified out;
  for (const Slice& slice : slices) {
    SliceState state = state_of(slice, now);
    if (state.changes_at) set_earlier(out.changes_at, *state.changes_at);
    if (state.phase == Phase::kReady && slice.topology_key.empty()) {
      state = {Phase::kForming,
               fmt::format("its topology key is not supported, use {}", fmt::join(options.topology_keys, " or "))};
    }
    if (state.phase == Phase::kReady) {
      out.request.ready.push_back(slice);
    } else if (state.phase == Phase::kPlaced) {
      if (!slice.gang.empty()) ++out.request.placed_gangs[{slice.key.namespace_name, slice.gang}];
      if (is_released(slice)) out.request.released.push_back(slice);
    } else if (state.phase == Phase::kForming || is_partly_gated(slice, state.phase)) {
      const Timestamp due = slice.last_created() + options.waiting_reason_delay;
      if (now < due) {
        set_earlier(out.changes_at, due);
      } else {
        out.incomplete.push_back({&slice, std::move(state.reason)});
      }
    }
  }
  return out;
}

/// The pods that are in none of these slices: a slice may be placed beside its own pods without TPUs.
std::vector<PodPtr> others_than(const std::vector<Slice>& slices, const std::vector<PodPtr>& pods) {
  std::set<ObjectKey> keys;
  for (const Slice& slice : slices) keys.insert(slice.key);
  std::vector<PodPtr> out;
  std::ranges::copy_if(pods, std::back_inserter(out), [&](const PodPtr& pod) {
    return !keys.contains({pod->key.namespace_name, pod->label(tpu::kSlice)});
  });
  return out;
}

class PlanBuilder {
 public:
  /// A label value that is not in the catalog is a user's, so it is not a label of metrics.
  explicit PlanBuilder(const PlacementObserved& seen)
      : seen_(seen), accelerator_(tpu::find_accelerator(seen.accelerator).ok() ? seen.accelerator : "other") {}

  void add(const Placement& placement) {
    const Slice& slice = *placement.slice;
    const PodView& host0 = *slice.host0();
    std::string members = members_of(slice);
    // A node may be replaced before the missing hosts are created.
    const bool bind_to_nodes = members != kOpenMembers;
    writes_.push_back(release_pod(
        host0, {slice.topology_key, placement.domain, bind_to_nodes ? placement.nodes : std::vector<std::string>(),
                std::move(members), seen_.now}));
    const std::string how = placement.domain.empty()
                                ? "released without a domain"
                                : fmt::format("placed in {} {}", domain_noun(slice.topology_key), placement.domain);
    const Duration waited = seen_.now - slice.last_created();
    const std::string what = fmt::format("slice {} of {} hosts is {}", short_name(slice), slice.size, how);
    notes_.push_back(what);
    add_event(slice, {EventType::kNormal, "SlicePlaced", "PlaceSlice",
                      fmt::format("{}, {} s after its last pod was created", what,
                                  std::chrono::duration_cast<std::chrono::seconds>(waited).count()),
                      host0.key});
    add_event(slice, {EventType::kWarning, "FailedPlaceSlice", "PlaceSlice",
                      fmt::format("Slice {} cannot be {}", short_name(slice), how), host0.key});
    count(placement.domain.empty() ? "released" : "placed", host0.key);
    plan_.measurements.push_back({Measurement::Kind::kDuration,
                                  "tpuslice_slice_placement_seconds",
                                  "Time from the creation of a slice's last pod to its placement.",
                                  {{"accelerator", accelerator_}},
                                  std::chrono::duration<double>(std::max(waited, Duration::zero())).count(),
                                  host0.key});
  }

  void add(const WaitingSlice& waiting) {
    const Slice& slice = *waiting.slice;
    const std::vector<PodPtr> live = slice.live();
    if (live.empty()) return;
    const auto gated = std::ranges::find_if(live, [](const PodPtr& pod) { return is_gated(*pod); });
    const PodView& pod = gated == live.end() ? *live.front() : **gated;
    const std::string& written = pod.annotation(tpu::kWaiting);
    if (written == waiting.reason) return;
    writes_.push_back(set_waiting_reason(pod, waiting.reason));
    notes_.push_back(fmt::format("slice {} waits: {}", short_name(slice), waiting.reason));
    if (written.empty()) {
      add_event(slice, {EventType::kNormal, "SliceWaiting", "PlaceSlice",
                        fmt::format("Slice {} waits: {}", short_name(slice), waiting.reason), pod.key});
    }
  }

  void set_waiting_count(const std::string& reason, std::size_t slices) {
    plan_.measurements.push_back({Measurement::Kind::kLevel,
                                  "tpuslice_slices_waiting",
                                  "Number of slices that are not placed.",
                                  {{"accelerator", accelerator_}, {"reason", reason}},
                                  static_cast<double>(slices),
                                  std::nullopt});
  }

  plan::Plan take(std::optional<Timestamp> changes_at) {
    // Independent: a failed write must not hold back other slices.
    if (!writes_.empty()) plan_.stages.push_back({std::move(writes_), true});
    plan_.reason = plan::summary(notes_);
    if (changes_at) plan::requeue_within(plan_.requeue_after, *changes_at - seen_.now);
    return std::move(plan_);
  }

 private:
  void add_event(const Slice& slice, plan::EventIntent intent) {
    intent.regarding = workload_of(*slice.any_pod());
    plan_.events.push_back(std::move(intent));
  }
  void count(const std::string& how, const ObjectKey& after) {
    plan_.measurements.push_back({Measurement::Kind::kCount,
                                  "tpuslice_slices_placed_total",
                                  "Number of slices placed in a domain, or released without one.",
                                  {{"accelerator", accelerator_}, {"how", how}},
                                  1,
                                  after});
  }

  const PlacementObserved& seen_;
  const std::string accelerator_;
  plan::Plan plan_;
  std::vector<plan::Action> writes_;
  std::vector<std::string> notes_;
};

}  // namespace

plan::Plan plan_placement(const PlacementObserved& seen, const Options& options) {
  std::vector<Slice> slices = read_slices(seen.pods);
  for (Slice& slice : slices) {
    const bool allowed = options.topology_keys.empty() || options.topology_keys.contains(slice.topology_key);
    if (!allowed) slice.topology_key.clear();
  }
  Classified classified = classify(slices, seen.now, options);
  classified.request.domain_failures = seen.domain_failures;
  classified.request.no_capacity = options.no_capacity;
  classified.request.show_other_namespaces = options.show_other_namespaces;
  PlanBuilder builder(seen);
  Assignment assignment;
  if (!classified.request.ready.empty()) {
    Inventory inventory(seen.nodes, seen.pods, slices);
    inventory.add_users(others_than(classified.request.ready, seen.pods_without_tpus));
    assignment = assign(classified.request, inventory);
  }
  for (const Placement& placement : assignment.placements) builder.add(placement);
  for (const WaitingSlice& waiting : assignment.waiting) {
    // The reasons of many new slices would change with each placement.
    const Timestamp due = waiting.slice->last_created() + options.waiting_reason_delay;
    if (seen.now < due) {
      set_earlier(classified.changes_at, due);
    } else {
      builder.add(waiting);
    }
  }
  for (const WaitingSlice& waiting : classified.incomplete) builder.add(waiting);
  builder.set_waiting_count("no free nodes", assignment.waiting.size());
  builder.set_waiting_count("incomplete", classified.incomplete.size());
  return builder.take(classified.changes_at);
}

}  // namespace tpuslice::slice
