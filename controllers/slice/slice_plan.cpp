#include "controllers/slice/slice_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "api/base/strings.h"
#include "controllers/plan/unschedulable.h"
#include "controllers/slice/domain_name.h"
#include "controllers/slice/refused_pods.h"
#include "controllers/slice/slice_render.h"
#include "controllers/slice/slice_state.h"
#include "tpu/labels.h"
#include "tpu/teardown_grace.h"
#include "tpu/workload_ref.h"

namespace tpuslice::slice {
namespace {

using plan::WaitingCode;

class SlicePlanner {
 public:
  SlicePlanner(const SliceObserved& seen, const Options& options, const Slice& slice)
      : seen_(seen), options_(options), slice_(slice) {}

  SliceDecisions decide() {
    SliceDecisions out;
    out.lost = find_lost_pods();
    const SliceState state = state_of(slice_, seen_.now);
    switch (state.phase) {
      case SlicePhase::kBroken:
        if (seen_.workload_ends) break;
        if (was_preempted()) {
          out.preempted = slice_.started();
        } else {
          const bool deleted = was_deleted();
          const bool lost_host = !deleted || std::ranges::any_of(slice_.terminating, is_lost_or_failed);
          out.failure =
              SliceFailure{deleted ? Cause::kPodDeleted : Cause::kPodLost, state.reason, first_lost_pod(), lost_host};
        }
        break;
      case SlicePhase::kPlaced:
        out.failure = find_failure();
        if (out.failure) break;
        out.released = other_pods();
        out.completed = started_with_open_members();
        out.reasons = reasons_of_placed();
        out.begins_to_wait = begins_to_wait(out.reasons);
        out.node_reports = node_reports();
        out.removed_hosts = unrecorded_removed_hosts();
        break;
      case SlicePhase::kIdle:
      case SlicePhase::kForming:
        out.released = companions_without_hosts();
        break;
      case SlicePhase::kUngated:
        out.reasons = reasons_of_ungated();
        out.begins_to_wait = begins_to_wait(out.reasons);
        break;
      case SlicePhase::kReady:
        break;
    }
    out.changes_at = changes_at_;
    return out;
  }

 private:
  static bool is_lost_or_failed(const PodPtr& pod) { return tpu::is_lost_or_failed(*pod); }

  /// A pod was deleted on purpose: by a user, the end of the workload, a restart, an eviction.
  [[nodiscard]] bool was_deleted() const { return slice_.failed.empty() && !slice_.terminating.empty(); }

  /// The pod that the reason of a broken slice names; null for one that is gone.
  [[nodiscard]] PodPtr first_lost_pod() const {
    if (!slice_.failed.empty()) return slice_.failed.front();
    return slice_.terminating.empty() ? nullptr : slice_.terminating.front();
  }

  /// Whether its pods are being deleted for a slice of higher priority; placement_plan.h counts and reports that.
  [[nodiscard]] bool was_preempted() const {
    return std::ranges::any_of(slice_.terminating,
                               [](const PodPtr& pod) { return pod->disruption == tpu::kPreemptionBySlice; });
  }

  void requeue_at(Timestamp when) { set_earlier(changes_at_, when); }

  std::optional<SliceFailure> find_failure() {
    if (std::optional<SliceFailure> failure = find_lost_node()) return failure;
    if (std::optional<SliceFailure> failure = find_unscheduled_pod()) return failure;
    return find_refused_pod();
  }

  std::optional<SliceFailure> find_lost_node() {
    for (const PodPtr& pod : slice_.started()) {
      std::optional<Timestamp> lost = lost_at(*pod, seen_, options_);
      if (!lost) continue;
      if (seen_.teardown_turn) lost = std::max(*lost, *seen_.teardown_turn);
      if (seen_.now >= *lost) {
        return SliceFailure{Cause::kNodeLost,
                            fmt::format("node {} of pod {} is not Ready", pod->node_name, pod->key.name), pod};
      }
      requeue_at(*lost);
    }
    return std::nullopt;
  }

  /// Pods that wait for something other than nodes of the domain (unschedulable.h) have more time, and those that
  /// kube-scheduler has not tried yet have any: it may not run. A pod that our stores do not hold may use the domain.
  std::optional<SliceFailure> find_unscheduled_pod() {
    std::size_t without_node = 0;
    PodPtr unschedulable;
    PodPtr waiting;
    for (const PodPtr& pod : slice_.started()) {
      if (pod->annotation(tpu::kPlacedIn).empty() || !pod->node_name.empty()) continue;
      ++without_node;
      if (!pod->unschedulable.empty() && !plan::read_unschedulable(*pod).temporary) unschedulable = pod;
      const bool says_nothing =
          pod->unschedulable.empty() && pod->scheduling_error.empty() && pod->scheduling->resource_claims.empty();
      if (!says_nothing && (waiting == nullptr || waiting->unschedulable.empty())) waiting = pod;
    }
    if (waiting == nullptr) return std::nullopt;
    const auto failure = [&](const PodView& pod, const std::string& why) {
      return SliceFailure{Cause::kNotScheduled,
                          fmt::format("{} of {} pods are not scheduled in {}: {}: {}", without_node, slice_.size,
                                      pod.annotation(tpu::kPlacedIn), pod.key.name, why)};
    };
    const Timestamp placed = placed_at(slice_);
    if (unschedulable != nullptr && is_due(placed, options_.scheduling_timeout)) {
      return failure(*unschedulable, unschedulable->unschedulable);
    }
    if (!is_due(placed, options_.start_timeout)) return std::nullopt;
    const std::string& why = waiting->unschedulable;
    return failure(*waiting, why.empty() ? plan::explain_silence(*waiting, placed) : why);
  }

  /// Whether `timeout`, which is none if it is zero, has passed since; asks for a plan when it will have.
  bool is_due(Timestamp since, Duration timeout) {
    if (timeout <= Duration::zero()) return false;
    if (seen_.now >= since + timeout) return true;
    requeue_at(since + timeout);
    return false;
  }

  /// A gated pod whose release keeps failing. The others would hold the domain in vain.
  std::optional<SliceFailure> find_refused_pod() {
    for (const PodPtr& pod : slice_.live()) {
      const plan::FailedWrite* const release = is_gated(*pod) ? refused_release(*pod, failed_writes()) : nullptr;
      if (release == nullptr) continue;
      if (is_due(std::max(release->since, placed_at(slice_)), options_.scheduling_timeout)) {
        return SliceFailure{Cause::kNotReleased, refusal_of(*pod, *release)};
      }
    }
    return std::nullopt;
  }

  static std::string refusal_of(const PodView& pod, const plan::FailedWrite& release) {
    return fmt::format("pod {} cannot be changed: {}", pod.key.name, release.message);
  }

  [[nodiscard]] const plan::FailedWrites* failed_writes() const { return seen_.failed_writes.get(); }

  /// Terminating pods on lost nodes, which would block their successors until the nodes return. Not those whose
  /// controller guarantees at most one pod of a name.
  std::vector<PodPtr> find_lost_pods() {
    std::vector<PodPtr> out;
    for (const PodPtr& pod : slice_.terminating) {
      const std::optional<Timestamp> lost = lost_at(*pod, seen_, options_);
      if (!lost || tpu::has_unique_name(*pod)) continue;
      const Timestamp due = std::max(*lost, *pod->deletion + options_.lost_pod_timeout);
      if (seen_.now < due) {
        requeue_at(due);
      } else {
        out.push_back(pod);
      }
    }
    return out;
  }

  /// The gated pods of a placed slice, for where its first started host was placed.
  [[nodiscard]] std::vector<ReleasedPods> other_pods() const {
    const PodView& first = *slice_.started().front();
    const std::string& domain = first.annotation(tpu::kPlacedIn);
    const std::string& members = first.annotation(tpu::kSliceMembers);
    return {{gated_of(slice_.hosts),
             {slice_.topology_key, domain, recorded_nodes(), members, seen_.now, slice_.inherited_place()}},
            {gated_of(slice_.companions), {slice_.topology_key, {}, {}, members, seen_.now}}};
  }

  /// For a slice placed host by host: once all hosts exist, their members are recorded; from then on, losing one breaks
  /// the slice.
  [[nodiscard]] std::vector<PodPtr> started_with_open_members() const {
    std::vector<PodPtr> out;
    if (slice_.start != Start::kHostByHost || !slice_.has_all_hosts()) return out;
    for (const PodPtr& pod : slice_.started()) {
      if (pod->annotation(tpu::kSliceMembers) == kOpenMembers) out.push_back(pod);
    }
    return out;
  }

  /// Why the pod has no node, which it could have since `since`; empty if it has one, or should have one soon. A reason
  /// that kube-scheduler reports for another pod is preferred to its silence.
  std::string missing_node(const PodView& pod, Timestamp since) {
    if (!pod.node_name.empty()) return {};
    if (!pod.unschedulable.empty()) return plan::read_unschedulable(pod).reasons;
    const auto is_reported = [](const PodPtr& each) { return each->node_name.empty() && !each->unschedulable.empty(); };
    const auto gated = [](const PodPtr& each) { return is_gated(*each); };
    if (std::ranges::any_of(slice_.started(), is_reported) || std::ranges::any_of(slice_.live(), gated)) return {};
    if (seen_.now >= since + options_.unbound_reason_delay) return plan::explain_silence(pod, since);
    requeue_at(since + options_.unbound_reason_delay);
    return {};
  }

  /// For a placed slice: which pod cannot be released, or why the first pod without a node has none.
  std::vector<ReasonChange> reasons_of_placed() {
    std::string refusal;
    for (const PodPtr& pod : slice_.live()) {
      const plan::FailedWrite* const release = is_gated(*pod) ? refused_release(*pod, failed_writes()) : nullptr;
      if (release != nullptr && refusal.empty()) refusal = refusal_of(*pod, *release);
    }
    const Timestamp placed = placed_at(slice_);
    return first_reason(placed + options_.waiting_reason_delay, [&](const PodView& pod) -> WaitingReason {
      if (!refusal.empty()) return {WaitingCode::kUpdateRefused, refusal};
      const std::string why = missing_node(pod, placed);
      const std::string& domain = pod.annotation(tpu::kPlacedIn);
      if (why.empty()) {
        return {WaitingCode::kHostsMissing, domain.empty() ? std::string() : missing_hosts_of_placed(domain)};
      }
      std::string reason =
          fmt::format("pod {} has no node{} yet: {}", pod.key.name, domain.empty() ? "" : " in " + domain, why);
      const auto chosen = pod.scheduling->node_selector.find(tpu::kHostnameLabel);
      if (chosen != pod.scheduling->node_selector.end() && !domain.empty()) {
        reason += fmt::format("; its node selector {} is {}, which must be a node of {}", tpu::kHostnameLabel,
                              chosen->second, domain);
      }
      return {WaitingCode::kNotScheduled, std::move(reason)};
    });
  }

  /// Whether one of the reasons is another than those that its pods have, but for the text.
  [[nodiscard]] bool begins_to_wait(const std::vector<ReasonChange>& reasons) const {
    return std::ranges::any_of(reasons, [&](const ReasonChange& change) {
      return !change.reason.text.empty() && std::ranges::none_of(slice_.live(), [&](const PodPtr& pod) {
        return pod->annotation(tpu::kWaitingReason) == to_string(change.reason.code);
      });
    });
  }

  /// Removed hosts that a new leader would take for lost ones.
  [[nodiscard]] std::string unrecorded_removed_hosts() const {
    std::string record = record_of_removed_hosts(slice_);
    const bool known = std::ranges::any_of(
        slice_.started(), [&](const PodPtr& pod) { return pod->annotation(tpu::kRemovedHosts) == record; });
    return known ? std::string() : record;
  }

  /// What is written of the node that is lost first, where that differs from what is written.
  [[nodiscard]] std::vector<NodeReport> node_reports() const {
    std::optional<Timestamp> first_lost;
    std::string reported;
    for (const PodPtr& pod : slice_.started()) {
      const std::optional<Timestamp> lost = lost_at(*pod, seen_, options_);
      if (!lost || (first_lost && *first_lost <= *lost)) continue;
      first_lost = lost;
      reported = pod->key.name;
    }
    std::vector<NodeReport> out;
    bool is_written = false;
    for (const PodPtr& pod : slice_.started()) {
      const std::string& written = pod->annotation(tpu::kNodeNotReady);
      const std::string text = pod->key.name == reported ? report_of_lost_node(*pod, seen_, options_) : std::string();
      is_written = is_written || !written.empty();
      if (written != text) out.push_back({pod, text});
    }
    if (first_lost && !is_written) out.front().is_first = true;
    return out;
  }

  /// For a slice that was placed before all its hosts existed: which of them its controller has not created.
  std::string missing_hosts_of_placed(const std::string& domain) {
    const std::string missing = missing_hosts(slice_);
    if (missing.empty() || !gated_of(slice_.hosts).empty()) return {};
    const Timestamp due = slice_.last_created() + options_.missing_hosts_delay;
    if (seen_.now >= due) return fmt::format("{}; they can start in {} only, which is kept for them", missing, domain);
    requeue_at(due);
    return {};
  }

  /// What the first waiting pod of a slice without gates waits for. If some pods are gated, the placement plan writes a
  /// reason on one of them.
  std::vector<ReasonChange> reasons_of_ungated() {
    if (slice_.size < 2) return {};
    const bool partly_gated = std::ranges::any_of(slice_.live(), [](const PodPtr& pod) { return is_gated(*pod); });
    const std::string held = held_domain();
    const Timestamp created = slice_.last_created();
    return first_reason(created + options_.waiting_reason_delay, [&](const PodView& pod) -> WaitingReason {
      if (partly_gated) return {};
      if (!pod.scheduling->gates.empty()) {
        return {WaitingCode::kOtherGate,
                fmt::format("pod {} is held by scheduling gate {}", pod.key.name, pod.scheduling->gates.front())};
      }
      const std::string why = missing_node(pod, created);
      if (why.empty()) return {};
      return {WaitingCode::kNotScheduled,
              fmt::format("pod {} has no node yet: {}; its slice has no scheduling gate, {}", pod.key.name, why,
                          held.empty() ? "so its pods get nodes one by one"
                                       : fmt::format("and others of its pods hold nodes of {}", held))};
    });
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

  /// The reason of the first started host for which `reason_of` returns one, from `due` on; none for the others. Only
  /// those that differ from what is written.
  template <typename ReasonOf>
  std::vector<ReasonChange> first_reason(Timestamp due, ReasonOf reason_of) {
    std::vector<ReasonChange> out;
    bool found = false;
    for (const PodPtr& pod : slice_.started()) {
      WaitingReason reason = found ? WaitingReason() : reason_of(*pod);
      found = found || !reason.text.empty();
      if (!reason.text.empty() && seen_.now < due) {
        requeue_at(due);
      } else if (!reason.is_written(*pod)) {
        out.push_back({pod, std::move(reason)});
      }
    }
    return out;
  }

  /// Nodes by host index, as recorded on host 0; empty if the placement chose no nodes.
  [[nodiscard]] std::vector<std::string> recorded_nodes() const {
    const PodPtr host0 = slice_.host0();
    return host0 == nullptr ? std::vector<std::string>() : split(host0->annotation(tpu::kPlacedOn), ',');
  }

  static std::vector<PodPtr> gated_of(const std::vector<PodPtr>& pods) {
    std::vector<PodPtr> out;
    std::ranges::copy_if(pods, std::back_inserter(out),
                         [](const PodPtr& pod) { return is_live(*pod) && is_gated(*pod); });
    return out;
  }

  /// The controller of such a slice may create the hosts only once the companion runs.
  std::vector<ReleasedPods> companions_without_hosts() {
    if (!slice_.hosts.empty() || !slice_.terminating.empty()) return {};
    ReleasedPods out{{}, {slice_.topology_key, {}, {}, std::string(kOpenMembers), seen_.now}, true};
    for (const PodPtr& pod : slice_.companions) {
      if (!is_gated(*pod)) continue;
      const Timestamp deadline = pod->created.value_or(seen_.now) + kMissingPodsTimeout;
      if (seen_.now < deadline) {
        requeue_at(deadline);
      } else {
        out.pods.push_back(pod);
      }
    }
    return {std::move(out)};
  }

  const SliceObserved& seen_;
  const Options& options_;
  const Slice& slice_;
  std::optional<Timestamp> changes_at_;  ///< When the decisions may change without a watch event.
};

}  // namespace

plan::Plan plan_slice(const SliceObserved& seen, const Options& options) {
  const Slice slice = read_slice(seen.key, seen.pods, seen.removed_hosts);
  return render_slice(seen, slice, SlicePlanner(seen, options, slice).decide());
}

}  // namespace tpuslice::slice
