#include "controllers/slice/slice_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "controllers/slice/pod_patches.h"
#include "controllers/slice/standing.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using runtime::EventType;
using runtime::Measurement;

/// Why a placed slice has to end: a word for the metrics and a sentence for people.
struct Fault {
  std::string reason;
  std::string text;
};

class SlicePlanner {
 public:
  SlicePlanner(const SliceObserved& seen, const Options& options)
      : seen_(seen), options_(options), slice_(read_slice(seen.key, seen.pods)) {}

  runtime::Plan plan() {
    give_up_lost_pods();
    const Standing standing = standing_of(slice_, seen_.now);
    switch (standing.phase) {
      case Phase::kBroken:
        tear_down({lost_by_deletion() ? "pod deleted" : "pod lost", standing.why});
        break;
      case Phase::kPlaced:
        if (const std::optional<Fault> fault = fault_of_nodes()) {
          tear_down(*fault);
        } else {
          complete();
        }
        break;
      case Phase::kIdle:
      case Phase::kForming:
        release_lonely_companions();
        break;
      case Phase::kReady:
      case Phase::kUngated:
        break;
    }
    return std::move(plan_);
  }

 private:
  /// Somebody wanted it so: a user, the end of the workload, a restart, an eviction.
  [[nodiscard]] bool lost_by_deletion() const { return slice_.failed.empty() && !slice_.leaving.empty(); }

  /// What is due at a time that no event will tell.
  void look_again_at(Timestamp when) {
    const Duration in = std::max<Duration>(when - seen_.now, std::chrono::milliseconds(1));
    plan_.requeue_after = std::min(plan_.requeue_after.value_or(in), in);
  }

  /// When the pod's node has been silent for so long that it is lost; absent for a node that is Ready, or gone.
  [[nodiscard]] std::optional<Timestamp> lost_at(const PodView& pod) const {
    const auto node = seen_.nodes.find(pod.node_name);
    if (node == seen_.nodes.end() || node->second->ready) return std::nullopt;
    return node->second->ready_changed.value_or(Timestamp{}) + options_.lost_after;
  }

  std::optional<Fault> fault_of_nodes() {
    for (const PodPtr& pod : slice_.started()) {
      const std::optional<Timestamp> lost = lost_at(*pod);
      if (!lost) continue;
      if (seen_.now >= *lost) {
        return Fault{"node lost", fmt::format("node {} of pod {} is not Ready", pod->node_name, pod->key.name)};
      }
      look_again_at(*lost);
    }
    return fault_of_scheduler();
  }

  /// Pods that a silent node does not end hold up their successors for ever. A StatefulSet promises that there are
  /// never two of a name, whatever it costs: its pods stay.
  void give_up_lost_pods() {
    for (const PodPtr& pod : slice_.leaving) {
      const std::optional<Timestamp> lost = lost_at(*pod);
      if (!lost || (pod->controller && pod->controller->kind == "StatefulSet")) continue;
      const Timestamp due = std::max(*lost, *pod->deletion + options_.given_up_after);
      if (seen_.now < due) {
        look_again_at(due);
        continue;
      }
      runtime::Action action = delete_pod(*pod);
      action.grace_seconds = 0;
      write(std::move(action));
      event({EventType::kWarning, "LostPodDeleted", "DeleteLostPod",
             fmt::format("Pod {} should have ended at {}, and its node {} is not Ready: it is deleted without waiting "
                         "for the node",
                         pod->key.name, format_rfc3339(*pod->deletion), pod->node_name),
             std::nullopt});
      plan_.reason = fmt::format("pod {} of slice {} is given up with its node {}", pod->key.name, short_name(slice_),
                                 pod->node_name);
    }
  }

  /// A pod that was sent to a domain and refused there: somebody whom we do not see uses it, or it lacks something
  /// other than chips. Pods that the scheduler has not come to yet are waited for.
  std::optional<Fault> fault_of_scheduler() {
    std::size_t homeless = 0;
    PodPtr refused;
    Timestamp placed = Timestamp::min();
    for (const PodPtr& pod : slice_.started()) {
      placed = std::max(placed, parse_rfc3339(annotation(*pod, tpu::kPlacedAt)).value_or(Timestamp::min()));
      if (annotation(*pod, tpu::kPlacedIn).empty() || !pod->node_name.empty()) continue;
      ++homeless;
      if (!pod->unschedulable.empty()) refused = pod;
    }
    if (refused == nullptr) return std::nullopt;
    if (seen_.now < placed + options_.bound_within) {
      look_again_at(placed + options_.bound_within);
      return std::nullopt;
    }
    return Fault{"not scheduled",
                 fmt::format("{} of {} pods got no node in {}: {}: {}", homeless, slice_.hosts.size(),
                             annotation(*refused, tpu::kPlacedIn), refused->key.name, refused->unschedulable)};
  }

  void tear_down(const Fault& fault) {
    runtime::Stage stage;
    for (const PodPtr& pod : slice_.started()) stage.actions.push_back(delete_pod(*pod));
    if (stage.actions.empty()) return;
    const ObjectKey last = stage.actions.back().key;
    plan_.reason = fmt::format("slice {} is torn down: {}", short_name(slice_), fault.text);
    event({fault.reason == "pod deleted" ? EventType::kNormal : EventType::kWarning, "SliceTornDown", "TearDownSlice",
           fmt::format("Slice {} ends as a whole, {} of its {} pods with it: {}", short_name(slice_),
                       stage.actions.size(), slice_.hosts.size(), fault.text),
           std::nullopt});
    plan_.measurements.push_back({Measurement::Kind::kCount,
                                  "tpuslice_slices_torn_down_total",
                                  "Slices ended as a whole because a part of them was lost.",
                                  {{"reason", fault.reason}},
                                  1,
                                  last});
    plan_.stages.push_back(std::move(stage));
  }

  void complete() {
    const std::vector<PodPtr> begun = slice_.started();
    const PodView& first = *begun.front();
    const std::string& domain = annotation(first, tpu::kPlacedIn);
    const std::string& members = annotation(first, tpu::kSliceMembers);
    const std::size_t others =
        release_gated(slice_.hosts, {slice_.topology_key, domain, recorded_nodes(), members, seen_.now}) +
        release_gated(slice_.companions, {slice_.topology_key, {}, {}, members, seen_.now});
    if (others > 0) {
      plan_.reason =
          fmt::format("{} other pod{} of slice {} follow{} its first to {}", others, others == 1 ? "" : "s",
                      short_name(slice_), others == 1 ? "s" : "", domain.empty() ? "wherever they fit" : domain);
    }
  }

  /// By host; empty if the placement left that open.
  [[nodiscard]] std::vector<std::string> recorded_nodes() const {
    if (slice_.hosts.front() == nullptr) return {};
    return split(annotation(*slice_.hosts.front(), tpu::kPlacedOn), ',');
  }

  /// Returns how many there were.
  std::size_t release_gated(const std::vector<PodPtr>& pods, const Release& release) {
    std::size_t count = 0;
    for (const PodPtr& pod : pods) {
      if (pod == nullptr || !is_live(*pod) || !is_gated(*pod)) continue;
      write(release_pod(*pod, release));
      ++count;
    }
    return count;
  }

  /// All in one stage.
  void write(runtime::Action action) {
    if (plan_.stages.empty()) plan_.stages.emplace_back();
    plan_.stages.front().actions.push_back(std::move(action));
  }

  /// The controller of such a slice may be waiting for this pod before it creates the others.
  void release_lonely_companions() {
    const bool alone = std::ranges::all_of(slice_.hosts, [](const PodPtr& pod) { return pod == nullptr; });
    if (!alone || !slice_.leaving.empty()) return;
    for (const PodPtr& pod : slice_.companions) {
      if (!is_gated(*pod)) continue;
      const Timestamp patience_ends = pod->created.value_or(seen_.now) + kAlone;
      if (seen_.now < patience_ends) {
        look_again_at(patience_ends);
        continue;
      }
      plan_.reason = fmt::format("pod {} has no TPU and nobody else of its slice came: it may go", pod->key.name);
      write(release_pod(*pod, {slice_.topology_key, {}, {}, std::string(kOpenMembers), seen_.now}));
    }
  }

  void event(runtime::EventIntent intent) {
    intent.regarding = workload_of(*slice_.any());
    plan_.events.push_back(std::move(intent));
  }

  const SliceObserved& seen_;
  const Options& options_;
  const Slice slice_;
  runtime::Plan plan_;
};

}  // namespace

runtime::Plan plan_slice(const SliceObserved& seen, const Options& options) {
  return SlicePlanner(seen, options).plan();
}

}  // namespace tpuslice::slice
