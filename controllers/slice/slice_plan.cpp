#include "controllers/slice/slice_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "controllers/slice/inventory.h"
#include "controllers/slice/pod_patches.h"
#include "controllers/slice/preemption.h"
#include "controllers/slice/slice_state.h"
#include "controllers/slice/unschedulable.h"
#include "tpu/labels.h"
#include "tpu/workload_ref.h"

namespace tpuslice::slice {
namespace {

using plan::EventType;
using plan::Measurement;

enum class Cause : std::uint8_t { kPodDeleted, kPodLost, kNodeLost, kNotScheduled };

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
      break;
  }
  return "not scheduled";
}

/// Why a placed slice is torn down.
struct Failure {
  Cause cause = Cause::kPodLost;
  std::string message;
};

class SlicePlanner {
 public:
  SlicePlanner(const SliceObserved& seen, const Options& options)
      : seen_(seen), options_(options), slice_(read_slice(seen.key, seen.pods, seen.removed_hosts)) {}

  plan::Plan plan() {
    force_delete_lost_pods();
    const SliceState state = state_of(slice_, seen_.now);
    switch (state.phase) {
      case Phase::kBroken:
        if (was_preempted()) {
          complete_preemption();
        } else {
          tear_down({was_deleted() ? Cause::kPodDeleted : Cause::kPodLost, state.reason});
        }
        break;
      case Phase::kPlaced:
        if (const std::optional<Failure> failure = find_failure()) {
          tear_down(*failure);
        } else {
          release_other_pods();
          complete_members();
          update_waiting_reason();
        }
        break;
      case Phase::kIdle:
      case Phase::kForming:
        release_companions_without_hosts();
        break;
      case Phase::kUngated:
        explain_ungated_pods();
        break;
      case Phase::kReady:
        break;
    }
    return std::move(plan_);
  }

 private:
  /// A pod was deleted on purpose: by a user, the end of the workload, a restart, an eviction.
  [[nodiscard]] bool was_deleted() const { return slice_.failed.empty() && !slice_.terminating.empty(); }

  /// Its pods are being deleted for a slice of higher priority; placement_plan.h counts and reports that.
  [[nodiscard]] bool was_preempted() const {
    return std::ranges::any_of(slice_.terminating, [](const PodPtr& pod) { return pod->preempted; });
  }

  /// Deletes the remaining pods, since the deletes of a preemption may have been interrupted.
  void complete_preemption() {
    for (const PodPtr& pod : slice_.started()) {
      write(delete_pod(*pod));
      plan_.reason = fmt::format("slice {} is preempted by one of higher priority", short_name(slice_));
    }
  }

  void requeue_at(Timestamp when) { plan::requeue_within(plan_.requeue_after, when - seen_.now); }

  /// When the pod's node counts as lost; absent for a node that is Ready or deleted.
  [[nodiscard]] std::optional<Timestamp> lost_at(const PodView& pod) {
    const auto node = seen_.nodes.find(pod.node_name);
    if (node == seen_.nodes.end() || node->second->ready) return std::nullopt;
    const Timestamp changed = node->second->ready_changed.value_or(Timestamp{});
    return std::max(changed, seen_.nodes_healthy_since) + options_.node_timeout;
  }

  std::optional<Failure> find_failure() {
    if (std::optional<Failure> failure = find_lost_node()) return failure;
    return find_unscheduled_pod();
  }

  std::optional<Failure> find_lost_node() {
    for (const PodPtr& pod : slice_.started()) {
      const std::optional<Timestamp> lost = lost_at(*pod);
      if (!lost) continue;
      if (seen_.now >= *lost) {
        return Failure{Cause::kNodeLost, fmt::format("node {} of pod {} is not Ready", pod->node_name, pod->key.name)};
      }
      requeue_at(*lost);
    }
    return std::nullopt;
  }

  /// Ignores pods that kube-scheduler has not tried yet, and those that wait for something other than nodes of the
  /// domain (unschedulable.h). A pod that our stores do not hold may use the domain.
  std::optional<Failure> find_unscheduled_pod() {
    if (options_.scheduling_timeout <= Duration::zero()) return std::nullopt;
    std::size_t without_node = 0;
    PodPtr unschedulable;
    for (const PodPtr& pod : slice_.started()) {
      if (pod->annotation(tpu::kPlacedIn).empty() || !pod->node_name.empty()) continue;
      ++without_node;
      if (!pod->unschedulable.empty() && !read_unschedulable(*pod).temporary) unschedulable = pod;
    }
    if (unschedulable == nullptr) return std::nullopt;
    const Timestamp due = placed_at(slice_) + options_.scheduling_timeout;
    if (seen_.now < due) {
      requeue_at(due);
      return std::nullopt;
    }
    return Failure{Cause::kNotScheduled, fmt::format("{} of {} pods are not scheduled in {}: {}: {}", without_node,
                                                     slice_.size, unschedulable->annotation(tpu::kPlacedIn),
                                                     unschedulable->key.name, unschedulable->unschedulable)};
  }

  /// A terminating pod on a lost node would block its successor until the node returns. Pods whose controller
  /// guarantees at most one pod of a name are kept.
  void force_delete_lost_pods() {
    for (const PodPtr& pod : slice_.terminating) {
      const std::optional<Timestamp> lost = lost_at(*pod);
      if (!lost || tpu::has_unique_name(*pod)) continue;
      const Timestamp due = std::max(*lost, *pod->deletion + options_.lost_pod_timeout);
      if (seen_.now < due) {
        requeue_at(due);
        continue;
      }
      plan::Action action = delete_pod(*pod);
      action.grace_seconds = 0;
      write(std::move(action));
      add_event({EventType::kWarning, "LostPodDeleted", "DeleteLostPod",
                 fmt::format("Pod {} should have terminated at {}, and its node {} is not Ready: deleted without "
                             "waiting for the node",
                             pod->key.name, format_rfc3339(*pod->deletion), pod->node_name),
                 std::nullopt});
      plan_.reason = fmt::format("pod {} of slice {} is deleted without waiting for its node {}", pod->key.name,
                                 short_name(slice_), pod->node_name);
    }
  }

  void tear_down(const Failure& failure) {
    plan::Stage conditions;
    plan::Stage deletes;
    for (const PodPtr& pod : slice_.started()) {
      conditions.actions.push_back(
          set_disruption_target(*pod, "DeletionBySliceController", failure.message, seen_.now));
      deletes.actions.push_back(delete_pod(*pod));
    }
    if (deletes.actions.empty()) return;
    const ObjectKey last = deletes.actions.back().key;
    plan_.reason = fmt::format("slice {} is torn down: {}", short_name(slice_), failure.message);
    add_event({failure.cause == Cause::kPodDeleted ? EventType::kNormal : EventType::kWarning, "SliceTornDown",
               "TearDownSlice",
               fmt::format("Slice {} is torn down, {} of its {} pods are deleted: {}", short_name(slice_),
                           deletes.actions.size(), slice_.size, failure.message),
               std::nullopt});
    plan_.measurements.push_back({Measurement::Kind::kCount,
                                  "tpuslice_slices_torn_down_total",
                                  "Number of slices torn down because a part of them was lost.",
                                  {{"reason", to_string(failure.cause)}},
                                  1,
                                  last});
    plan_.stages.push_back(std::move(conditions));
    plan_.stages.push_back(std::move(deletes));
  }

  /// Releases the gated pods of a placed slice to where its first started host was placed.
  void release_other_pods() {
    const std::vector<PodPtr> started = slice_.started();
    const PodView& first = *started.front();
    const std::string& domain = first.annotation(tpu::kPlacedIn);
    const std::string& members = first.annotation(tpu::kSliceMembers);
    const std::size_t count =
        release_gated(slice_.hosts, {slice_.topology_key, domain, recorded_nodes(), members, seen_.now}) +
        release_gated(slice_.companions, {slice_.topology_key, {}, {}, members, seen_.now});
    if (count == 0) return;
    plan_.reason =
        fmt::format("{} other pod{} of slice {} {} released {}", count, count == 1 ? "" : "s", short_name(slice_),
                    count == 1 ? "is" : "are", domain.empty() ? "without a domain" : "to " + domain);
  }

  /// For a slice placed host by host: records the members once all hosts exist; from then on, losing one breaks the
  /// slice.
  void complete_members() {
    if (slice_.start != Start::kHostByHost || !slice_.has_all_hosts()) return;
    const std::string members = members_of(slice_);
    for (const PodPtr& pod : slice_.started()) {
      if (pod->annotation(tpu::kSliceMembers) != kOpenMembers) continue;
      write(set_members(*pod, members));
      plan_.reason = fmt::format("all hosts of slice {} exist", short_name(slice_));
    }
  }

  /// For a placed slice: writes on the first pod without a node why kube-scheduler has not found one.
  void update_waiting_reason() {
    write_first_reason(placed_at(slice_) + options_.waiting_reason_delay, [](const PodView& pod) {
      if (!pod.node_name.empty() || pod.unschedulable.empty()) return std::string();
      const std::string& domain = pod.annotation(tpu::kPlacedIn);
      std::string reason = fmt::format("pod {} has no node{} yet: {}", pod.key.name,
                                       domain.empty() ? "" : " in " + domain, read_unschedulable(pod).reasons);
      const auto chosen = pod.scheduling->node_selector.find(tpu::kHostnameLabel);
      if (chosen != pod.scheduling->node_selector.end() && !domain.empty()) {
        reason += fmt::format("; its node selector {} is {}, which must be a node of {}", tpu::kHostnameLabel,
                              chosen->second, domain);
      }
      return reason;
    });
  }

  /// For a slice without gates: writes on the first pod that waits what it waits for. If some pods are gated, the
  /// placement plan writes a reason on one of them.
  void explain_ungated_pods() {
    if (slice_.size < 2) return;
    const std::vector<PodPtr> live = slice_.live();
    const bool partly_gated = std::ranges::any_of(live, [](const PodPtr& pod) { return is_gated(*pod); });
    const std::string held = held_domain();
    const std::string reason =
        write_first_reason(slice_.last_created() + options_.waiting_reason_delay, [&](const PodView& pod) {
          if (partly_gated) return std::string();
          if (!pod.scheduling->gates.empty()) {
            return fmt::format("pod {} is held by scheduling gate {}", pod.key.name, pod.scheduling->gates.front());
          }
          if (!pod.node_name.empty() || pod.unschedulable.empty()) return std::string();
          return fmt::format("pod {} has no node yet: {}; its slice has no scheduling gate, {}", pod.key.name,
                             read_unschedulable(pod).reasons,
                             held.empty() ? "so its pods get nodes one by one"
                                          : fmt::format("and others of its pods hold nodes of {}", held));
        });
    const bool is_first =
        std::ranges::none_of(live, [](const PodPtr& pod) { return !pod->annotation(tpu::kWaiting).empty(); });
    if (reason.empty() || !is_first) return;
    add_event({EventType::kNormal, "SliceWaiting", "PlaceSlice",
               fmt::format("Slice {} waits: {}", short_name(slice_), reason), std::nullopt});
  }

  /// The domain of the first pod that has a node: "node pool a"; empty if none has.
  [[nodiscard]] std::string held_domain() const {
    for (const PodPtr& pod : slice_.started()) {
      const auto node = seen_.nodes.find(pod->node_name);
      if (node == seen_.nodes.end()) continue;
      const std::string domain = domain_of_node(*node->second, slice_.topology_key);
      if (!domain.empty()) return fmt::format("{} {}", domain_noun(slice_.topology_key), domain);
    }
    return {};
  }

  /// Writes the reason of the first started host for which `reason_of` returns one, from `due` on; removes others.
  /// Returns what it has written, other than removals.
  template <typename ReasonOf>
  std::string write_first_reason(Timestamp due, ReasonOf reason_of) {
    std::string written;
    bool found = false;
    for (const PodPtr& pod : slice_.started()) {
      const std::string reason = found ? std::string() : reason_of(*pod);
      found = found || !reason.empty();
      if (!reason.empty() && seen_.now < due) {
        requeue_at(due);
        continue;
      }
      if (pod->annotation(tpu::kWaiting) == reason) continue;
      write(set_waiting_reason(*pod, reason));
      if (!reason.empty()) written = reason;
      if (plan_.reason.empty()) {
        plan_.reason = reason.empty() ? fmt::format("pod {} has a node", pod->key.name)
                                      : fmt::format("slice {} waits: {}", short_name(slice_), reason);
      }
    }
    return written;
  }

  /// Nodes by host index, as recorded on host 0; empty if the placement chose no nodes.
  [[nodiscard]] std::vector<std::string> recorded_nodes() const {
    const PodPtr host0 = slice_.host0();
    return host0 == nullptr ? std::vector<std::string>() : split(host0->annotation(tpu::kPlacedOn), ',');
  }

  /// Returns how many were gated.
  std::size_t release_gated(const std::vector<PodPtr>& pods, const Release& release) {
    std::size_t count = 0;
    for (const PodPtr& pod : pods) {
      if (!is_live(*pod) || !is_gated(*pod)) continue;
      write(release_pod(*pod, release));
      ++count;
    }
    return count;
  }

  /// All writes are in one stage.
  void write(plan::Action action) {
    if (plan_.stages.empty()) plan_.stages.emplace_back();
    plan_.stages.front().actions.push_back(std::move(action));
  }

  /// The controller of such a slice may create the hosts only once the companion runs.
  void release_companions_without_hosts() {
    if (!slice_.hosts.empty() || !slice_.terminating.empty()) return;
    for (const PodPtr& pod : slice_.companions) {
      if (!is_gated(*pod)) continue;
      const Timestamp deadline = pod->created.value_or(seen_.now) + kMissingPodsTimeout;
      if (seen_.now < deadline) {
        requeue_at(deadline);
        continue;
      }
      plan_.reason = fmt::format("pod {} without TPUs is released: no host of its slice was created", pod->key.name);
      write(release_pod(*pod, {slice_.topology_key, {}, {}, std::string(kOpenMembers), seen_.now}));
    }
  }

  void add_event(plan::EventIntent intent) {
    intent.regarding = workload_of(*slice_.any_pod());
    plan_.events.push_back(std::move(intent));
  }

  const SliceObserved& seen_;
  const Options& options_;
  const Slice slice_;
  plan::Plan plan_;
};

}  // namespace

plan::Plan plan_slice(const SliceObserved& seen, const Options& options) { return SlicePlanner(seen, options).plan(); }

}  // namespace tpuslice::slice
