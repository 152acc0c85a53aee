#include "controllers/slice/placement_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "controllers/slice/pod_patches.h"
#include "controllers/slice/standing.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using runtime::EventType;
using runtime::Measurement;

/// The slices of one accelerator, by what is to be done about them.
struct Sorted {
  Contest contest;
  std::vector<Wait> forming;
  std::optional<Timestamp> changes_at;
};

bool is_released(const Slice& slice) {
  const std::vector<PodPtr> live = slice.live();
  const bool sent_nowhere = std::ranges::any_of(
      live, [&](const PodPtr& pod) { return !is_gated(*pod) && annotation(*pod, tpu::kPlacedIn).empty(); });
  return sent_nowhere && std::ranges::any_of(live, [](const PodPtr& pod) { return pod->node_name.empty(); });
}

/// Some of its pods never were gated, and the others wait for them in vain.
bool is_held_by_others(const Slice& slice, Phase phase) {
  return phase == Phase::kUngated &&
         std::ranges::any_of(slice.live(), [](const PodPtr& pod) { return is_gated(*pod); });
}

void sooner(std::optional<Timestamp>& when, Timestamp other) { when = std::min(when.value_or(other), other); }

Sorted sort(const std::vector<Slice>& slices, Timestamp now, const Options& options) {
  Sorted out;
  for (const Slice& slice : slices) {
    Standing standing = standing_of(slice, now);
    if (standing.changes_at) sooner(out.changes_at, *standing.changes_at);
    if (standing.phase == Phase::kReady) {
      out.contest.ready.push_back(slice);
    } else if (standing.phase == Phase::kPlaced) {
      if (!slice.gang.empty()) ++out.contest.placed_gangs[{slice.key.namespace_name, slice.gang}];
      if (is_released(slice)) out.contest.released.push_back(slice);
    } else if (standing.phase == Phase::kForming || is_held_by_others(slice, standing.phase)) {
      const Timestamp due = slice.complete_since() + options.told_after;
      if (now < due) {
        sooner(out.changes_at, due);
      } else {
        out.forming.push_back({&slice, std::move(standing.why)});
      }
    }
  }
  return out;
}

class PlanBuilder {
 public:
  explicit PlanBuilder(const PlacementObserved& seen) : seen_(seen) {}

  void add(const Placement& placement) {
    const Slice& slice = *placement.slice;
    const PodView& first = *slice.hosts.front();
    std::string members = members_of(slice);
    // Hosts that come later may find that a node has been replaced since.
    const bool by_name = members != kOpenMembers;
    writes_.push_back(
        release_pod(first, {slice.topology_key, placement.domain,
                            by_name ? placement.nodes : std::vector<std::string>(), std::move(members), seen_.now}));
    const std::string where = placement.domain.empty()
                                  ? "no domain in particular"
                                  : fmt::format("{} {}", domain_noun(slice.topology_key), placement.domain);
    const Duration waited = seen_.now - slice.complete_since();
    const std::string what =
        fmt::format("slice {} of {} hosts goes to {}", short_name(slice), slice.hosts.size(), where);
    notes_.push_back(what);
    event(slice, {EventType::kNormal, "SlicePlaced", "PlaceSlice",
                  fmt::format("{}, {} s after its last pod was created", what,
                              std::chrono::duration_cast<std::chrono::seconds>(waited).count()),
                  first.key});
    event(slice, {EventType::kWarning, "FailedPlaceSlice", "PlaceSlice",
                  fmt::format("Slice {} cannot be let go to {}", short_name(slice), where), first.key});
    count(placement.domain.empty() ? "released" : "placed", first.key);
    plan_.measurements.push_back({Measurement::Kind::kDuration,
                                  "tpuslice_slice_placement_seconds",
                                  "From the creation of a slice's last pod to its placement.",
                                  {{"accelerator", seen_.accelerator}},
                                  std::chrono::duration<double>(std::max(waited, Duration::zero())).count(),
                                  first.key});
  }

  void add(const Wait& wait) {
    const Slice& slice = *wait.slice;
    const std::vector<PodPtr> live = slice.live();
    if (live.empty()) return;
    const auto gated = std::ranges::find_if(live, [](const PodPtr& pod) { return is_gated(*pod); });
    const PodView& pod = gated == live.end() ? *live.front() : **gated;
    const std::string& told = annotation(pod, tpu::kWaiting);
    if (told == wait.why) return;
    writes_.push_back(tell_pod(pod, wait.why));
    notes_.push_back(fmt::format("slice {} waits: {}", short_name(slice), wait.why));
    if (told.empty()) {
      event(slice, {EventType::kNormal, "SliceWaiting", "PlaceSlice",
                    fmt::format("Slice {} waits: {}", short_name(slice), wait.why), pod.key});
    }
  }

  void level(const std::string& reason, std::size_t slices) {
    plan_.measurements.push_back({Measurement::Kind::kLevel,
                                  "tpuslice_slices_waiting",
                                  "Slices that have not started.",
                                  {{"accelerator", seen_.accelerator}, {"reason", reason}},
                                  static_cast<double>(slices),
                                  std::nullopt});
  }

  runtime::Plan take(std::optional<Timestamp> changes_at) {
    // Independent: a pod that cannot be written must not hold back the slices of others.
    if (!writes_.empty()) plan_.stages.push_back({std::move(writes_), true});
    plan_.reason = runtime::summary(notes_);
    if (changes_at) plan_.requeue_after = std::max<Duration>(*changes_at - seen_.now, std::chrono::milliseconds(1));
    return std::move(plan_);
  }

 private:
  void event(const Slice& slice, runtime::EventIntent intent) {
    intent.regarding = workload_of(*slice.any());
    plan_.events.push_back(std::move(intent));
  }
  void count(const std::string& how, const ObjectKey& after) {
    plan_.measurements.push_back({Measurement::Kind::kCount,
                                  "tpuslice_slices_placed_total",
                                  "Slices let go.",
                                  {{"accelerator", seen_.accelerator}, {"how", how}},
                                  1,
                                  after});
  }

  const PlacementObserved& seen_;
  runtime::Plan plan_;
  std::vector<runtime::Action> writes_;
  std::vector<std::string> notes_;
};

}  // namespace

runtime::Plan plan_placement(const PlacementObserved& seen, const Options& options) {
  const std::vector<Slice> slices = read_slices(seen.pods);
  Sorted sorted = sort(slices, seen.now, options);
  sorted.contest.troubles = seen.troubles;
  sorted.contest.no_capacity = options.no_capacity;
  PlanBuilder builder(seen);
  Assignment assignment;
  if (!sorted.contest.ready.empty()) {
    Inventory inventory(seen.nodes, seen.pods, slices);
    assignment = assign(sorted.contest, inventory);
  }
  for (const Placement& placement : assignment.placements) builder.add(placement);
  for (const Wait& wait : assignment.waits) {
    // A crowd of slices that has just come, or come anew, is not told of every step of the queue.
    const Timestamp due = wait.slice->complete_since() + options.told_after;
    if (seen.now < due) {
      sooner(sorted.changes_at, due);
    } else {
      builder.add(wait);
    }
  }
  for (const Wait& wait : sorted.forming) builder.add(wait);
  builder.level("no free nodes", assignment.waits.size());
  builder.level("incomplete", sorted.forming.size());
  return builder.take(sorted.changes_at);
}

}  // namespace tpuslice::slice
