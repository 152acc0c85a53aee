#include "controllers/placement/scale_up/scale_up.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "api/base/hash.h"
#include "api/types/utf8.h"
#include "tpu/labels.h"
#include "tpu/topology_key.h"

namespace tpuslice::placement {
namespace {

constexpr std::size_t kHashLength = 13;
/// Annotations of pods whose nodes a ProvisioningRequest of another controller asks for, such as Kueue's.
constexpr std::array<std::string_view, 2> kConsumedRequests = {
    "autoscaling.x-k8s.io/consume-provisioning-request",
    "cluster-autoscaler.kubernetes.io/consume-provisioning-request"};
constexpr std::size_t kMaxNameShown = 253;
/// Cluster autoscalers ignore pods with a lower priority (--expendable-pods-priority-cutoff).
constexpr std::int32_t kLowestPriority = -10;

/// The end of the gang that begins at `first`: slices of a gang follow each other.
std::size_t end_of_gang(const std::vector<WaitingSlice>& waiting, std::size_t first) {
  const Slice& slice = *waiting[first].slice;
  std::size_t last = first + 1;
  if (slice.gang.empty()) return last;
  while (last < waiting.size() && waiting[last].slice->gang == slice.gang &&
         waiting[last].slice->key.namespace_name == slice.key.namespace_name) {
    ++last;
  }
  return last;
}

class ScaleUpPlanner {
 public:
  ScaleUpPlanner(const std::vector<WaitingSlice>& waiting, ScaleUpMeans& means, Timestamp now,
                 const ScaleUpOptions& options)
      : waiting_(waiting), means_(means), now_(now), options_(options), bounds_(options.max_scale_ups) {}

  ScaleUpPlan plan() {
    for (const WaitingSlice& each : waiting_) {
      by_slice_.emplace(each.slice->key, &each);
      if (means_.wants(each)) {
        wanted_.insert(each.slice->key);
      } else {
        means_.note_refusal(each, plan_);
      }
    }
    const std::vector<ExistingScaleUp> existing = means_.existing(by_slice_);
    for (const ExistingScaleUp& each : existing) keep_or_delete(each);
    std::ranges::sort(unsuccessful_, std::ranges::greater(), [](const auto* each) { return each->created; });
    for (std::size_t first = 0; first < waiting_.size();) {
      const std::size_t last = end_of_gang(waiting_, first);
      ask(first, last);
      first = last;
    }
    // Then it does not count as nodes to come any more (Reservations).
    if (next_unsuccessful_) set_earlier(plan_.changes_at, *next_unsuccessful_);
    return std::move(plan_);
  }

 private:
  void keep_or_delete(const ExistingScaleUp& each) {
    const bool is_first = asking_.insert(each.slice).second;
    if (each.terminating) return;
    if (each.changes_at) set_earlier(plan_.changes_at, *each.changes_at);
    if (!each.kept || !is_first) return remove(each);
    const WaitingSlice& waiting = *by_slice_.at(each.slice);
    bounds_.count(waiting, each.state);
    if (each.state == ScaleUpState::kUnsuccessful) unsuccessful_.push_back(&each);
    if (each.unsuccessful_at) set_earlier(next_unsuccessful_, *each.unsuccessful_at);
    plan_.asked.insert(waiting.slice);
    if (!each.note.empty()) plan_.notes[waiting.slice] = each.note;
  }

  void remove(const ExistingScaleUp& each) {
    plan_.deletes.push_back(plan::Action::remove(means_.type(), each.key, {.uid = each.uid}));
  }

  /// For the slices [first, last) of `waiting_`, which start together.
  void ask(std::size_t first, std::size_t last) {
    std::vector<const WaitingSlice*> missing;
    for (std::size_t i = first; i < last; ++i) {
      const WaitingSlice& waiting = waiting_[i];
      if (!wanted_.contains(waiting.slice->key)) continue;
      const Timestamp due = waiting.slice->last_created() + options_.delay;
      if (now_ < due) {
        set_earlier(plan_.changes_at, due);
        return;
      }
      if (!asking_.contains(waiting.slice->key)) missing.push_back(&waiting);
    }
    if (missing.empty() || !may_ask(missing)) return;
    for (std::size_t excess = bounds_.take_excess(missing.size()); excess > 0; --excess) {
      remove(*unsuccessful_.back());
      unsuccessful_.pop_back();
    }
    for (const WaitingSlice* waiting : missing) create(*waiting);
  }

  /// Whether the slices of one gang may ask for nodes within the bounds. If not, their notes say so, and they are
  /// considered again once the next scale-up is unsuccessful.
  bool may_ask(const std::vector<const WaitingSlice*>& gang) {
    if (bounds_.may_ask(gang)) return true;
    for (const WaitingSlice* waiting : gang) {
      plan_.notes[waiting->slice] =
          fmt::format("; no nodes are asked for, as that takes more than --max-scale-ups={}", options_.max_scale_ups);
    }
    return false;
  }

  void create(const WaitingSlice& waiting) {
    bounds_.count(waiting);
    std::optional<plan::Action> action = means_.create(waiting);
    if (!action) return;
    action->failure_reason = "FailedScaleUp";
    plan_.creates.push_back(*std::move(action));
    plan_.notes[waiting.slice] = means_.note_of_new(*waiting.slice);
    plan_.asked.insert(waiting.slice);
  }

  const std::vector<WaitingSlice>& waiting_;
  ScaleUpMeans& means_;
  const Timestamp now_;
  const ScaleUpOptions& options_;
  ScaleUpBounds bounds_;
  ScaleUpMeans::WaitingSlices by_slice_;
  std::set<ObjectKey> wanted_;                        ///< Slices that want this means.
  std::set<ObjectKey> asking_;                        ///< Slices with a scale-up, which may be terminating.
  std::vector<const ExistingScaleUp*> unsuccessful_;  ///< The oldest is last.
  std::optional<Timestamp> next_unsuccessful_;        ///< When the next one becomes unsuccessful.
  ScaleUpPlan plan_;
};

}  // namespace

std::string scale_up_name(const ObjectKey& slice) { return "scale-up-" + short_hash(slice.to_string(), kHashLength); }

ObjectKey slice_of_scale_up(const std::string& annotation) {
  const std::size_t slash = annotation.find('/');
  if (slash == std::string::npos) return {};
  return {annotation.substr(0, slash), annotation.substr(slash + 1)};
}

std::string scale_up_obstacle(const WaitingSlice& waiting) {
  if (waiting.lacks == nullptr || waiting.slice->hosts.empty()) return {};
  for (const std::string_view name : kConsumedRequests) {
    const std::string& request = waiting.slice->hosts.front()->annotation(name);
    if (!request.empty()) return fmt::format("ProvisioningRequest {} asks for its nodes", clip(request, kMaxNameShown));
  }
  if (waiting.slice->topology_key != tpu::kDynamicSliceLabel) return {};
  return fmt::format("nodes get the label {} from a Slice object: create one", tpu::kDynamicSliceLabel);
}

ScaleUp scale_up_of(const WaitingSlice& waiting, const ScaleUpOptions& options) {
  if (waiting.lacks == nullptr || waiting.slice->hosts.empty()) return ScaleUp::kOff;
  if (options.mode == ScaleUp::kOff || !scale_up_obstacle(waiting).empty()) return ScaleUp::kOff;
  if (waiting.slice->priority() < kLowestPriority) return ScaleUp::kOff;
  const std::string& chosen = waiting.slice->hosts.front()->annotation(tpu::kScaleUp);
  ScaleUp mode = options.mode;
  if (chosen == "off") mode = ScaleUp::kOff;
  if (chosen == "auto") mode = ScaleUp::kAuto;
  if (chosen == "scout") mode = ScaleUp::kScout;
  if (chosen == "provisioning-request") mode = ScaleUp::kProvisioningRequest;
  const bool is_request = mode == ScaleUp::kProvisioningRequest;
  const bool allowed = is_request ? !options.provisioning_class.empty() : options.scouts;
  return allowed ? mode : ScaleUp::kOff;
}

ScaleUpPlan plan_scale_up(const std::vector<WaitingSlice>& waiting, ScaleUpMeans& means, Timestamp now,
                          const ScaleUpOptions& options) {
  return ScaleUpPlanner(waiting, means, now, options).plan();
}

}  // namespace tpuslice::placement
