#include "controllers/slice/scale_up.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "api/base/strings.h"
#include "controllers/slice/pod_patches.h"
#include "controllers/slice/scout_pod.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

constexpr std::size_t kMaxAvoidedDomains = 256;
/// How often to look for an autoscaler while slices wait.
constexpr Duration kAutoscalerCheck = std::chrono::minutes(1);
/// Cluster autoscalers ignore pods with a lower priority (--expendable-pods-priority-cutoff).
constexpr std::int32_t kLowestPriority = -10;

/// Domains in which kube-scheduler could place a scout now, although they do not help the waiting slice: broken, partly
/// in use, or too few for its gang. At most kMaxAvoidedDomains.
std::vector<std::string> avoided_domains(const NodeRequirements& requirements, Inventory& inventory) {
  std::vector<std::string> avoided;
  const std::shared_ptr<Comparison> comparison = inventory.comparison(requirements);
  for (const auto& [name, domain] : inventory.domains(requirements.topology_key)) {
    if (avoided.size() == kMaxAvoidedDomains) break;
    if (comparison->with(name, domain).obstacle == Obstacle::kMismatch) continue;
    // kube-scheduler could put a scout on a node whose pod it has not bound yet.
    const bool has_room = std::ranges::any_of(domain.nodes, [](const NodeUse* use) { return use->pod == nullptr; });
    if (has_room) avoided.push_back(name);
  }
  return avoided;
}

class ScoutPlanner {
 public:
  ScoutPlanner(const std::vector<WaitingSlice>& waiting, const std::vector<PodPtr>& scouts, Inventory& inventory,
               bool has_autoscaler, Timestamp now, const ScaleUpOptions& options)
      : waiting_(waiting),
        scouts_(scouts),
        inventory_(inventory),
        has_autoscaler_(has_autoscaler),
        now_(now),
        options_(options),
        bounds_(options.max_scouts) {}

  ScoutPlan plan() {
    keep_or_delete_scouts();
    for (std::size_t first = 0; first < waiting_.size();) {
      const std::size_t last = end_of_gang(waiting_, first);
      ask(first, last);
      first = last;
    }
    return std::move(plan_);
  }

 private:
  /// False for slices that wait for something other than nodes, or whose workload opted out.
  [[nodiscard]] bool wants_scout(const WaitingSlice& waiting) const {
    const ScaleUp mode = scale_up_of(waiting, options_);
    return mode == ScaleUp::kScout || (mode == ScaleUp::kAuto && has_autoscaler_);
  }

  /// A scout with a node is kept while no autoscaler is found: the domain may still become whole, and without the scout
  /// an autoscaler that does not report its status would remove the nodes.
  [[nodiscard]] bool keeps_scout(const WaitingSlice& waiting, const PodView& scout) const {
    return wants_scout(waiting) || (scale_up_of(waiting, options_) == ScaleUp::kAuto && !scout.node_name.empty());
  }

  /// The scout excludes a domain that was removed since: the autoscaler could not add that domain again for it.
  [[nodiscard]] bool avoids_removed_domain(const PodView& scout, const std::string& topology_key) {
    if (!scout.node_name.empty() || scout.annotation(tpu::kScoutAvoids).empty()) return false;
    return std::ranges::any_of(split(scout.annotation(tpu::kScoutAvoids), ','), [&](const std::string& domain) {
      return inventory_.uses(topology_key, domain).empty();
    });
  }

  /// Another slice uses the scout's node.
  [[nodiscard]] bool is_node_used(const PodView& scout) const {
    const NodeUse* use = scout.node_name.empty() ? nullptr : inventory_.use_of(scout.node_name);
    return use != nullptr && !use->is_free() && !use->reserved;
  }

  /// The scout's domain is complete and free or reserved, and still the slice lacks a domain: it needs another one.
  [[nodiscard]] bool is_domain_complete(const PodView& scout, const NodeRequirements& requirements) {
    const NodeUse* use = scout.node_name.empty() ? nullptr : inventory_.use_of(scout.node_name);
    if (use == nullptr) return false;
    const std::string& key = requirements.topology_key;
    const std::string& domain = domain_of_node(*use->node, key);
    const Obstacle obstacle = inventory_.check(requirements, domain).obstacle;
    if (obstacle != Obstacle::kOccupied) return obstacle == Obstacle::kNone;
    return std::ranges::all_of(inventory_.uses(key, domain),
                               [](const NodeUse* each) { return each->is_free() || each->reserved; });
  }

  /// The scout has had a node for so long that the other nodes of its domain will not be added.
  [[nodiscard]] bool has_timed_out(const PodView& scout) {
    if (scout.node_name.empty() || !scout.created) return false;
    const Timestamp due = *scout.created + 2 * options_.timeout;
    if (now_ < due) set_earlier(plan_.changes_at, due);
    return now_ >= due;
  }

  [[nodiscard]] bool is_unsuccessful(const PodView& scout) const {
    return scout.node_name.empty() && scout.created && now_ >= *scout.created + options_.timeout;
  }

  void keep_or_delete_scouts() {
    std::map<ObjectKey, const WaitingSlice*> by_slice;
    for (const WaitingSlice& each : waiting_) by_slice.emplace(each.slice->key, &each);
    for (const PodPtr& scout : scouts_) {
      const ObjectKey slice = slice_of_scout(*scout);
      if (scout->terminating()) {
        ending_.insert(slice);
        continue;
      }
      const auto waiting = by_slice.find(slice);
      if (waiting == by_slice.end() || !keeps_scout(*waiting->second, *scout) || scout->finished() ||
          is_node_used(*scout) || has_timed_out(*scout) || is_domain_complete(*scout, *waiting->second->lacks) ||
          avoids_removed_domain(*scout, waiting->second->slice->topology_key) || kept_.contains(slice)) {
        remove(*scout);
        ending_.insert(slice);
        continue;
      }
      kept_.emplace(slice, scout);
      const bool unsuccessful = is_unsuccessful(*scout);
      bounds_.count(*waiting->second, unsuccessful ? Outcome::kUnsuccessful : Outcome::kOpen);
      if (unsuccessful) {
        unsuccessful_.push_back(scout);
      } else if (scout->node_name.empty() && scout->created) {
        if (scale_up_of(*waiting->second, options_) == ScaleUp::kAuto)
          set_earlier(plan_.changes_at, now_ + kAutoscalerCheck);
        const Timestamp due = *scout->created + options_.timeout;
        set_earlier(next_unsuccessful_, due);
      }
    }
    std::ranges::sort(unsuccessful_, std::ranges::greater(), [](const PodPtr& scout) { return scout->created; });
  }

  void remove(const PodView& scout) {
    plan::Action action = delete_pod(scout);
    action.failure_reason = {};
    plan_.deletes.push_back(std::move(action));
  }

  /// The slices [first, last) of `waiting_`, which start together.
  void ask(std::size_t first, std::size_t last) {
    std::vector<const WaitingSlice*> missing;
    for (std::size_t i = first; i < last; ++i) {
      const WaitingSlice& waiting = waiting_[i];
      if (!wants_scout(waiting)) {
        note_refusal(waiting);
        if (const auto scout = kept_.find(waiting.slice->key); scout != kept_.end()) {
          note_scout(waiting, *scout->second);
        }
        continue;
      }
      const Timestamp due = waiting.slice->last_created() + options_.delay;
      if (now_ < due) {
        set_earlier(plan_.changes_at, due);
        return;
      }
      if (const auto scout = kept_.find(waiting.slice->key); scout != kept_.end()) {
        note_scout(waiting, *scout->second);
      } else if (!ending_.contains(waiting.slice->key)) {
        missing.push_back(&waiting);
      }
    }
    if (missing.empty() || !has_room(missing, bounds_, next_unsuccessful_, options_, plan_)) return;
    for (std::size_t excess = bounds_.take_excess(missing.size()); excess > 0; --excess) {
      remove(*unsuccessful_.back());
      unsuccessful_.pop_back();
    }
    for (const WaitingSlice* waiting : missing) create(*waiting);
  }

  void create(const WaitingSlice& waiting) {
    const auto [avoided, is_new] = avoided_.try_emplace(waiting.lacks.get());
    if (is_new) avoided->second = avoided_domains(*waiting.lacks, inventory_);
    const ObjectKey key{options_.namespace_name, scout_name(waiting.slice->key)};
    plan::Action action = plan::Action::create(kPods, Object(scout_pod(*waiting.slice, avoided->second, options_)));
    action.failure_reason = "FailedScaleUp";
    plan_.creates.push_back(std::move(action));
    plan_.notes[waiting.slice] = asks(key);
    bounds_.count(waiting);
  }

  static std::string asks(const ObjectKey& scout) {
    return fmt::format("; scout pod {} asks the cluster autoscaler for nodes", scout.to_string());
  }

  void note_scout(const WaitingSlice& waiting, const PodView& scout) {
    const NodeUse* use = scout.node_name.empty() ? nullptr : inventory_.use_of(scout.node_name);
    plan_.notes[waiting.slice] =
        use == nullptr ? asks(scout.key)
                       : fmt::format("; scout pod {} has a node of {}, which is not whole yet", scout.key.to_string(),
                                     domain_of_node(*use->node, waiting.slice->topology_key));
  }

  void note_refusal(const WaitingSlice& waiting) {
    if (scale_up_of(waiting, options_) == ScaleUp::kAuto && !has_autoscaler_) {
      set_earlier(plan_.changes_at, now_ + kAutoscalerCheck);
      plan_.notes[waiting.slice] =
          "; no cluster autoscaler was found (ConfigMap kube-system/cluster-autoscaler-status): --scale-up=scout asks "
          "for nodes all the same";
    }
  }

  const std::vector<WaitingSlice>& waiting_;
  const std::vector<PodPtr>& scouts_;
  Inventory& inventory_;
  const bool has_autoscaler_;
  const Timestamp now_;
  const ScaleUpOptions& options_;
  std::map<ObjectKey, PodPtr> kept_;            ///< By slice.
  std::set<ObjectKey> ending_;                  ///< Slices whose scout is being deleted; its name is not free.
  std::vector<PodPtr> unsuccessful_;            ///< The oldest is last.
  std::optional<Timestamp> next_unsuccessful_;  ///< When the next scout becomes unsuccessful.
  ScaleUpBounds bounds_;
  std::map<const NodeRequirements*, std::vector<std::string>> avoided_;
  ScoutPlan plan_;
};

}  // namespace

bool is_scout(const PodView& pod, const ScaleUpOptions& options) {
  return pod.key.namespace_name == options.namespace_name && !pod.annotation(tpu::kScoutFor).empty();
}

ObjectKey slice_of_scout(const PodView& scout) { return slice_of_scout(scout.annotation(tpu::kScoutFor)); }

ObjectKey slice_of_scout(const std::string& annotation) {
  const std::size_t slash = annotation.find('/');
  if (slash == std::string::npos) return {};
  return {annotation.substr(0, slash), annotation.substr(slash + 1)};
}

ScaleUp scale_up_of(const WaitingSlice& waiting, const ScaleUpOptions& options) {
  if (waiting.lacks == nullptr || waiting.slice->hosts.empty()) return ScaleUp::kOff;
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

bool has_room(const std::vector<const WaitingSlice*>& gang, const ScaleUpBounds& bounds,
              std::optional<Timestamp> next_unsuccessful, const ScaleUpOptions& options, ScoutPlan& plan) {
  const Room room = bounds.room_for(gang);
  if (room == Room::kYes) return true;
  if (room == Room::kNotYet && next_unsuccessful) set_earlier(plan.changes_at, *next_unsuccessful);
  for (const WaitingSlice* waiting : gang) {
    plan.notes[waiting->slice] =
        fmt::format("; no nodes are asked for, as that takes more than --max-scouts={}", options.max_scouts);
  }
  return false;
}

ScoutPlan plan_scouts(const std::vector<WaitingSlice>& waiting, const std::vector<PodPtr>& scouts, Inventory& inventory,
                      bool has_autoscaler, Timestamp now, const ScaleUpOptions& options) {
  return ScoutPlanner(waiting, scouts, inventory, has_autoscaler, now, options).plan();
}

}  // namespace tpuslice::slice
