#include "controllers/slice/slice_render.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "controllers/plan/changes.h"
#include "controllers/slice/interruptions.h"
#include "controllers/slice/slice_state.h"
#include "tpu/labels.h"
#include "tpu/teardown_grace.h"

namespace tpuslice::slice {
namespace {

using plan::EventType;

/// Label of the metric.
const char* to_string(Cause cause) {
  switch (cause) {
    case Cause::kPodDeleted:
      return "pod deleted";
    case Cause::kPodLost:
      return "pod lost";
    case Cause::kNodeLost:
      return "node lost";
    case Cause::kNotScheduled:
      return "not scheduled";
    case Cause::kNotReleased:
      break;
  }
  return "not released";
}

/// What the history calls it.
InterruptionCause cause_of(const SliceFailure& failure) {
  switch (failure.cause) {
    case Cause::kPodDeleted:
      return {plan::kRestarted, "PodDeleted", failure.message, failure.pod};
    case Cause::kPodLost:
      return {plan::kTornDown, "PodLost", failure.message, failure.pod};
    case Cause::kNodeLost:
      return {plan::kTornDown, "NodeLost", failure.message, failure.pod};
    case Cause::kNotScheduled:
      return {plan::kRejected, "NotScheduled", failure.message, failure.pod};
    case Cause::kNotReleased:
      break;
  }
  return {plan::kRejected, "NotReleased", failure.message, failure.pod};
}

/// The message, and the index of the host that was lost first.
std::string with_host(const SliceFailure& failure) {
  const std::optional<int> host = failure.pod == nullptr ? std::nullopt : host_index(*failure.pod);
  return host ? fmt::format("host {}: {}", *host, failure.message) : failure.message;
}

const plan::CounterDefinition kSlicesTornDown{
    "tpuslice_slices_torn_down_total",
    "Number of slices torn down because a part of them was lost.",
    "reason",
    {to_string(Cause::kPodDeleted), to_string(Cause::kPodLost), to_string(Cause::kNodeLost),
     to_string(Cause::kNotScheduled), to_string(Cause::kNotReleased)}};

class SliceRenderer {
 public:
  SliceRenderer(const SliceObserved& seen, const Slice& slice) : seen_(seen), slice_(slice) {}

  plan::Plan render(const SliceDecisions& decisions) {
    for (const PodPtr& pod : decisions.lost) force_delete(*pod);
    for (const PodPtr& pod : decisions.preempted) complete_preemption(*pod);
    if (decisions.failure) tear_down(*decisions.failure);
    release(decisions.released);
    for (const PodPtr& pod : decisions.completed) complete_members(*pod);
    for (const ReasonChange& change : decisions.reasons) write_reason(change);
    for (const NodeReport& report : decisions.node_reports) write_report(report);
    if (!decisions.removed_hosts.empty()) record_removed_hosts(decisions.removed_hosts);
    if (decisions.begins_to_wait) add_waiting_event(decisions.reasons);
    if (decisions.changes_at) plan::requeue_within(plan_.requeue_after, *decisions.changes_at - seen_.now);
    return std::move(plan_);
  }

 private:
  void force_delete(const PodView& pod) {
    write(delete_lost_pod(pod));
    plan_.reason = fmt::format("pod {} of slice {} is deleted without waiting for its node {}", pod.key.name,
                               short_name(slice_), pod.node_name);
  }

  static plan::Action delete_with_teardown_grace(const PodView& pod) {
    plan::Action action = delete_pod(pod);
    action.grace_seconds = tpu::teardown_grace(pod);
    return action;
  }

  /// The deletes of the preemption may have been interrupted.
  void complete_preemption(const PodView& pod) {
    write(delete_pod(pod));
    plan_.reason = fmt::format("slice {} is preempted by one of higher priority", short_name(slice_));
  }

  void tear_down(const SliceFailure& failure) {
    const std::vector<PodPtr> started = slice_.started();
    if (started.empty()) return;
    const auto events = std::make_shared<const plan::ActionEvents>(events_of_tear_down(failure, started.size()));
    // A pod that cannot be deleted keeps no other running.
    plan::Stage conditions{{}, true};
    plan::Stage deletes{{}, true};
    for (const PodPtr& pod : started) {
      conditions.actions.push_back(
          set_disruption_target(*pod, "DeletionBySliceController", failure.message, seen_.now));
      deletes.actions.push_back(failure.lost_host ? delete_with_teardown_grace(*pod) : delete_pod(*pod));
      deletes.actions.back().events = events;
    }
    plan_.reason = fmt::format("slice {} is torn down: {}", short_name(slice_), failure.message);
    plan_.stages.push_back(std::move(conditions));
    plan_.stages.push_back(std::move(deletes));
  }

  /// All the deletes share them.
  [[nodiscard]] plan::ActionEvents events_of_tear_down(const SliceFailure& failure, std::size_t pods) const {
    plan::ActionEvents events;
    const std::string why = with_host(failure);
    events.on_success.push_back(
        of_workload({failure.cause == Cause::kPodDeleted ? EventType::kNormal : EventType::kWarning, "SliceTornDown",
                     "TearDownSlice",
                     fmt::format("Slice {} is torn down, {} of its {} pods are deleted: {}", short_name(slice_), pods,
                                 slice_.size, why)}));
    events.on_failure.push_back(of_workload(
        {EventType::kWarning, "SliceTornDown", "TearDownSlice",
         fmt::format("Slice {} is torn down: {}; not all of its pods could be deleted:", short_name(slice_), why)}));
    events.interruption = interruption_of(slice_, cause_of(failure), seen_.now);
    events.measurements.push_back(plan::increment(kSlicesTornDown, to_string(failure.cause)));
    return events;
  }

  void release(const std::vector<ReleasedPods>& released) {
    std::size_t count = 0;
    for (const ReleasedPods& each : released) {
      for (const PodPtr& pod : each.pods) write(release_pod(*pod, each.release));
      count += each.pods.size();
    }
    if (count == 0) return;
    const ReleasedPods& first = released.front();
    if (first.without_hosts) {
      plan_.reason =
          fmt::format("pod {} without TPUs is released: no host of its slice was created", first.pods.back()->key.name);
      return;
    }
    const std::string& domain = first.release.domain;
    plan_.reason =
        fmt::format("{} other pod{} of slice {} {} released {}", count, count == 1 ? "" : "s", short_name(slice_),
                    count == 1 ? "is" : "are", domain.empty() ? "without a domain" : "to " + domain);
  }

  void complete_members(const PodView& pod) {
    write(set_annotation(pod, tpu::kSliceMembers, members_of(slice_)));
    plan_.reason = fmt::format("all hosts of slice {} exist", short_name(slice_));
  }

  void write_reason(const ReasonChange& change) {
    write(set_waiting_reason(*change.pod, change.reason, seen_.failed_writes.get()));
    if (!plan_.reason.empty()) return;
    const std::string& text = change.reason.text;
    plan_.reason = text.empty() ? fmt::format("pod {} has a node", change.pod->key.name)
                                : fmt::format("slice {} waits: {}", short_name(slice_), text);
  }

  void write_report(const NodeReport& report) {
    write(set_annotation(*report.pod, tpu::kNodeNotReady, report.text));
    if (plan_.reason.empty() && !report.text.empty()) plan_.reason = report.text;
    if (!report.is_first) return;
    plan_.events.push_back(of_workload({EventType::kWarning, "SliceNodeNotReady", "WatchNode",
                                        fmt::format("Slice {}: {}", short_name(slice_), report.text)}));
  }

  void record_removed_hosts(const std::string& record) {
    const PodView& pod = *slice_.started().front();
    write(set_annotation(pod, tpu::kRemovedHosts, record));
    if (plan_.reason.empty()) plan_.reason = fmt::format("pod {} records the hosts that have finished", pod.key.name);
  }

  void add_waiting_event(const std::vector<ReasonChange>& changes) {
    const auto found =
        std::ranges::find_if(changes, [](const ReasonChange& each) { return !each.reason.text.empty(); });
    if (found == changes.end()) return;
    plan_.events.push_back(of_workload({EventType::kNormal, "SliceWaiting", "PlaceSlice",
                                        fmt::format("Slice {} waits: {}", short_name(slice_), found->reason.text)}));
    plan_.events.push_back(waiting_event(*found->pod, found->reason.text));
  }

  /// All writes are in one stage, and none depends on another.
  void write(plan::Action action) {
    if (plan_.stages.empty()) plan_.stages.push_back({{}, true, true});
    plan_.stages.front().actions.push_back(std::move(action));
  }

  [[nodiscard]] plan::EventIntent of_workload(plan::EventIntent event) const {
    event.regarding = workload_of(*slice_.any_pod());
    return event;
  }

  const SliceObserved& seen_;
  const Slice& slice_;
  plan::Plan plan_;
};

}  // namespace

constinit const std::array<const plan::CounterDefinition*, 1> kCounters = {&kSlicesTornDown};

plan::Plan render_slice(const SliceObserved& seen, const Slice& slice, const SliceDecisions& decisions) {
  return SliceRenderer(seen, slice).render(decisions);
}

}  // namespace tpuslice::slice
