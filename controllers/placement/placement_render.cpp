#include "controllers/placement/placement_render.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "api/base/hash.h"
#include "controllers/placement/domains/inventory.h"
#include "controllers/placement/scale_up/provisioning_request.h"
#include "controllers/placement/slices.h"
#include "controllers/plan/changes.h"
#include "controllers/slice/accelerator_labels.h"
#include "controllers/slice/interruptions.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using plan::EventType;
using plan::Measurement;

/// Most events about pods of one plan.
constexpr std::size_t kMaxPodEvents = 20;

/// The event of a workload whose slices wait is repeated once in this time: Events are deleted after an hour.
constexpr auto kReminderPeriod = std::chrono::minutes(50);

/// When the event of the workload, which has this uid, is due for the first time after `now`. Those of different
/// workloads are spread over the minutes of the period, so that there is at most one plan a minute for them.
Timestamp next_reminder(const std::string& uid, Timestamp now) {
  const std::chrono::minutes offset(fnv1a(uid) % kReminderPeriod.count());
  const auto periods = (now.time_since_epoch() + offset) / kReminderPeriod;
  return Timestamp((periods + 1) * kReminderPeriod - offset);
}

const plan::CounterDefinition kSlicesPlaced{"tpuslice_slices_placed_total", "Number of slices placed in a domain.",
                                            "accelerator", slice::accelerator_labels()};
const plan::CounterDefinition kSlicesPreempted{"tpuslice_slices_preempted_total", "Number of slices preempted.",
                                               "accelerator", slice::accelerator_labels()};
const plan::CounterDefinition kScaleUps{"tpuslice_scale_ups_total",
                                        "Number of scout pods and provisioning requests created.", "accelerator",
                                        slice::accelerator_labels()};

/// "; it waited 7 s"; empty for less than a second.
std::string waited_text(Duration waited) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
  if (seconds <= 0) return {};
  return seconds < 120 ? fmt::format("; it waited {} s", seconds) : fmt::format("; it waited {} min", seconds / 60);
}

/// Unique, also if the uid is unknown.
std::string name_of_workload(const Slice& slice) {
  const plan::ObjectReference workload = workload_of(*slice.any_pod());
  return fmt::format("{} {} {} {}", workload.api_version, workload.kind, workload.key.to_string(), workload.uid);
}

class PlanBuilder {
 public:
  PlanBuilder(const AcceleratorCache& cache, Timestamp now, const PlacementDecisions& decisions)
      : cache_(cache),
        now_(now),
        last_plan_(decisions.last_plan),
        failed_(decisions.failed_writes),
        accelerator_(slice::accelerator_label(cache.accelerator())) {}

  void add(const Placement& placement) {
    const Slice& slice = *placement.slice;
    const PodView& host0 = *slice.host0();
    std::string members = members_of(slice);
    // Not while hosts are missing: a node may be replaced before its host is created.
    const bool bind_to_nodes = members != kOpenMembers;
    plan::Action release = release_pod(
        host0, {slice.topology_key, placement.domain, bind_to_nodes ? placement.nodes : std::vector<std::string>(),
                std::move(members), now_, slice.inherited_place(), true});
    const std::string how = fmt::format("placed in {} {}", domain_noun(slice.topology_key), placement.domain);
    const Duration waited = now_ - slice.last_created();
    const std::string what = fmt::format("slice {} of {} hosts is {}", short_name(slice), slice.size, how);
    notes_.push_back(what);
    const std::string concern = placement.concern.empty() ? "" : fmt::format("; its domain {}", placement.concern);
    plan::ActionEvents events;
    events.on_success.push_back(of_workload(slice, {EventType::kNormal, "SlicePlaced", "PlaceSlice",
                                                    fmt::format("Slice {} of {} hosts is {}{}{}", short_name(slice),
                                                                slice.size, how, waited_text(waited), concern)}));
    events.on_failure.push_back(of_workload(slice, {EventType::kWarning, "FailedPlaceSlice", "PlaceSlice",
                                                    fmt::format("Slice {} cannot be {}", short_name(slice), how)}));
    events.measurements = {plan::increment(kSlicesPlaced, accelerator_),
                           {Measurement::Kind::kDuration,
                            "tpuslice_slice_placement_seconds",
                            "Time from the creation of a slice's last pod to its placement.",
                            {{"accelerator", accelerator_}},
                            std::chrono::duration<double>(std::max(waited, Duration::zero())).count()}};
    release.events = std::make_shared<const plan::ActionEvents>(std::move(events));
    writes_.push_back(std::move(release));
  }

  void add(const WaitingSlice& waiting) {
    const Slice& slice = *waiting.slice;
    const std::vector<PodPtr> live = slice.live();
    if (live.empty()) return;
    const auto gated = std::ranges::find_if(live, [](const PodPtr& pod) { return is_gated(*pod); });
    const PodView& pod = gated == live.end() ? *live.front() : **gated;
    const std::string& written = pod.annotation(tpu::kWaiting);
    const bool is_reminded = !written.empty() && remind(waiting, pod);
    if (waiting.reason.is_written(pod)) return;
    plan::Action write = set_waiting_reason(pod, waiting.reason, failed_, slice.inherited_place());
    const plan::FailedWrite* const failed = failed_ == nullptr ? nullptr : failed_->find(write);
    const bool is_held = failed != nullptr && failed->is_held(write.preconditions, now_);
    const std::string& code = pod.annotation(tpu::kWaitingReason);
    if (!is_reminded && !is_held && (written.empty() || code != to_string(waiting.reason.code))) {
      add_newly_waiting(waiting, pod, !written.empty());
    }
    writes_.push_back(std::move(write));
    notes_.push_back(fmt::format("slice {} waits: {}", short_name(slice), waiting.reason.text));
  }

  /// Deletes the started pods of the victim. The pods that its controller recreates wait like those of a new slice.
  void add(const Preemption& preemption) {
    const Slice& victim = *preemption.victim;
    const Slice& preemptor = *preemption.preemptor;
    const std::string need = fmt::format("{} {}", domain_noun(preemptor.topology_key), preemption.domain);
    const std::string why =
        preemption.is_exchange
            ? fmt::format("some slices of its gang wait, and an older gang of which some wait, too, needs {}", need)
            : fmt::format("a slice of priority {} needs {}", preemptor.priority(), need);
    const bool is_pod = victim.size == 0;
    const std::string what = fmt::format("{} of priority {} is preempted: {}",
                                         is_pod ? victim.key.name : short_name(victim), victim.priority(), why);
    const std::string name = fmt::format("{} {}", is_pod ? "Pod" : "Slice", what);
    plan::ActionEvents events;  // All the deletes share them.
    events.on_success.push_back(of_workload(victim, {EventType::kNormal, "SlicePreempted", "PreemptSlice", name}));
    events.on_failure.push_back(of_workload(victim, {EventType::kWarning, "SlicePreempted", "PreemptSlice",
                                                     fmt::format("{}; not all of its pods could be deleted:", name)}));
    events.measurements.push_back(plan::increment(kSlicesPreempted, accelerator_));
    events.interruption = slice::interruption_of(
        victim,
        {plan::kPreempted, preemption.is_exchange ? "GangExchange" : "Priority", why, nullptr, preemption.domain},
        now_);
    const auto shared = std::make_shared<const plan::ActionEvents>(std::move(events));
    for (const PodPtr& pod : victim.started()) {
      preparations_.push_back(set_disruption_target(*pod, tpu::kPreemptionBySlice, why, now_));
      deletes_.push_back(delete_pod(*pod));
      deletes_.back().events = shared;
    }
    notes_.push_back(fmt::format("{} {}", is_pod ? "pod" : "slice", what));
  }

  /// Adds the record, which is written before the deletes. If it fails, nothing is preempted.
  void add_preemption_record(plan::Action action) {
    action.failure_reason = "FailedPreemptSlice";
    const bool creates = action.kind == plan::ActionKind::kCreate;
    if (creates) notes_.push_back(fmt::format("{} {} is created", action.type.kind, action.key.to_string()));
    records_.push_back(std::move(action));
  }

  void add(ScaleUpPlan scale_up) {
    for (plan::Action& action : scale_up.creates) {
      if (action.type != kPodTemplates) {
        action.events = std::make_shared<const plan::ActionEvents>(
            plan::ActionEvents{.measurements = {plan::increment(kScaleUps, accelerator_)}});
      }
      notes_.push_back(fmt::format("{} {} is created", action.type.kind, action.key.to_string()));
      writes_.push_back(std::move(action));
    }
    for (plan::Action& action : scale_up.deletes) {
      notes_.push_back(fmt::format("{} {} is deleted", action.type.kind, action.key.to_string()));
      scale_up_deletes_.push_back(std::move(action));
    }
  }

  /// By reason, also those that no slice has.
  void set_waiting_counts(const PlacementDecisions& decisions) {
    std::map<plan::WaitingCode, std::size_t> counts = decisions.without_nodes;
    for (const auto* slices : {&decisions.incomplete, &decisions.refused, &decisions.rejected}) {
      for (const WaitingSlice& each : *slices) ++counts[each.reason.code];
    }
    for (const auto& [code, slices] : cache_.waiting_started()) counts[code] += slices;
    for (std::size_t i = 0; i < plan::kWaitingCodes.size(); ++i) {
      plan_.measurements.push_back({Measurement::Kind::kLevel,
                                    "tpuslice_slices_waiting",
                                    "Number of slices that wait for nodes or pods.",
                                    {{"accelerator", accelerator_}, {"reason", std::string(plan::kWaitingCodes.at(i))}},
                                    static_cast<double>(counts[static_cast<plan::WaitingCode>(i)])});
    }
  }

  plan::Plan take(std::optional<Timestamp> changes_at) {
    for (const auto& [workload, newly] : newly_waiting_) add_waiting_event(newly);
    std::ranges::move(pod_events_, std::back_inserter(plan_.events));
    // A failed write must not hold back other slices.
    for (auto* const writes : {&scale_up_deletes_, &writes_, &records_, &preparations_, &deletes_}) {
      if (!writes->empty()) plan_.stages.push_back({std::move(*writes), true, writes != &records_});
    }
    plan_.reason = plan::summary(notes_);
    for (const auto& at : {changes_at, reminds_at_}) {
      if (at) plan::requeue_within(plan_.requeue_after, *at - now_);
    }
    return std::move(plan_);
  }

 private:
  /// Slices of one workload that begin to wait.
  struct NewlyWaiting {
    const Slice* first = nullptr;
    std::string reason;  ///< Reason of the first one.
    std::size_t slices = 0;
  };

  /// Repeats the event of a workload that waits for long, if it is due.
  bool remind(const WaitingSlice& waiting, const PodView& pod) {
    const std::string uid = workload_of(*waiting.slice->any_pod()).uid;
    set_earlier(reminds_at_, last_plan_ ? next_reminder(uid, now_) : now_ + kReminderPeriod);
    if (!last_plan_ || next_reminder(uid, *last_plan_) > now_) return false;
    add_newly_waiting(waiting, pod, true);
    return true;
  }

  /// One event for each workload, when the first of its slices begins to wait, and when slices wait for something else.
  /// `pod` gets one, too: that of the slice which has the waiting reason.
  void add_newly_waiting(const WaitingSlice& waiting, const PodView& pod, bool waited_before) {
    const std::string workload = name_of_workload(*waiting.slice);
    if (!waited_before && waiting_workloads().contains(workload)) return;
    NewlyWaiting& newly = newly_waiting_[workload];
    if (newly.slices++ == 0) {
      newly.first = waiting.slice;
      newly.reason = waiting.reason.text;
    }
    if (pod_events_.size() < kMaxPodEvents) pod_events_.push_back(waiting_event(pod, waiting.reason.text));
  }
  const std::set<std::string>& waiting_workloads() {
    if (!waiting_workloads_) {
      waiting_workloads_.emplace();
      for (const auto& [key, cached] : cache_.slices()) {
        if (cached.has_waiting_reason) waiting_workloads_->insert(name_of_workload(cached.slice));
      }
    }
    return *waiting_workloads_;
  }
  void add_waiting_event(const NewlyWaiting& newly) {
    const std::string name = short_name(*newly.first);
    std::string message =
        newly.slices == 1 ? fmt::format("Slice {} waits: {}", name, newly.reason)
                          : fmt::format("{} slices wait, slice {} among them: {}", newly.slices, name, newly.reason);
    plan_.events.push_back(
        of_workload(*newly.first, {EventType::kNormal, "SliceWaiting", "PlaceSlice", std::move(message)}));
  }

  static plan::EventIntent of_workload(const Slice& slice, plan::EventIntent event) {
    event.regarding = workload_of(*slice.any_pod());
    return event;
  }

  const AcceleratorCache& cache_;
  const Timestamp now_;
  const std::optional<Timestamp> last_plan_;
  const plan::FailedWrites* const failed_;
  const std::string accelerator_;
  std::optional<Timestamp> reminds_at_;
  plan::Plan plan_;
  /// Deletions of scouts, of provisioning requests and of their templates. They run first: for a scout whose nodes are
  /// already used by a slice, an autoscaler would add more nodes.
  std::vector<plan::Action> scale_up_deletes_;
  std::vector<plan::Action> writes_;
  // The stages of preemptions: their record, the conditions of the pods, the deletions.
  std::vector<plan::Action> records_;
  std::vector<plan::Action> preparations_;
  std::vector<plan::Action> deletes_;
  std::optional<std::set<std::string>> waiting_workloads_;  ///< Some slice has a waiting reason already.
  std::map<std::string, NewlyWaiting> newly_waiting_;
  std::vector<plan::EventIntent> pod_events_;
  std::vector<std::string> notes_;
};

}  // namespace

constinit const std::array<const plan::CounterDefinition*, 3> kCounters = {&kSlicesPlaced, &kSlicesPreempted,
                                                                           &kScaleUps};

plan::Plan render_placement(const AcceleratorCache& cache, Timestamp now, PlacementDecisions decisions) {
  PlanBuilder builder(cache, now, decisions);
  for (const Placement& placement : decisions.placements) builder.add(placement);
  if (decisions.preemption_record) builder.add_preemption_record(*std::move(decisions.preemption_record));
  for (const Preemption& preemption : decisions.preemptions) builder.add(preemption);
  for (const WaitingSlice& waiting : decisions.waiting) builder.add(waiting);
  builder.add(std::move(decisions.scouts));
  builder.add(std::move(decisions.provisioning));
  for (const WaitingSlice& waiting : decisions.incomplete) builder.add(waiting);
  for (const WaitingSlice& waiting : decisions.refused) builder.add(waiting);
  for (const WaitingSlice& waiting : decisions.rejected) builder.add(waiting);
  builder.set_waiting_counts(decisions);
  return builder.take(decisions.changes_at);
}

}  // namespace tpuslice::placement
