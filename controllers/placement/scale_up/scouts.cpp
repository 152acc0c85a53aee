#include "controllers/placement/scale_up/scouts.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "api/base/strings.h"
#include "tpu/chips.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

constexpr std::size_t kMaxAvoidedDomains = 256;
/// How often to look for an autoscaler while slices wait.
constexpr Duration kAutoscalerCheck = std::chrono::minutes(1);

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

/// When the scout counts as unsuccessful; absent if it has a node.
std::optional<Timestamp> unsuccessful_at(const PodView& scout, const ScaleUpOptions& options) {
  if (!scout.node_name.empty() || !scout.created) return std::nullopt;
  return *scout.created + options.timeout;
}

class Scouts final : public ScaleUpMeans {
 public:
  Scouts(const std::vector<PodPtr>& scouts, Inventory& inventory, bool has_autoscaler, Timestamp now,
         const ScaleUpOptions& options)
      : scouts_(scouts), inventory_(inventory), has_autoscaler_(has_autoscaler), now_(now), options_(options) {}

  [[nodiscard]] ResourceType type() const override { return kPods; }

  /// False for slices that wait for something other than nodes, or whose workload opted out.
  [[nodiscard]] bool wants(const WaitingSlice& waiting) const override {
    const ScaleUp mode = scale_up_of(waiting, options_);
    return mode == ScaleUp::kScout || (mode == ScaleUp::kAuto && has_autoscaler_);
  }

  void note_refusal(const WaitingSlice& waiting, ScaleUpPlan& plan) const override {
    if (const std::string obstacle = scale_up_obstacle(waiting); !obstacle.empty()) {
      plan.notes[waiting.slice] = "; " + obstacle;
    }
    if (scale_up_of(waiting, options_) != ScaleUp::kAuto) return;
    set_earlier(plan.changes_at, now_ + kAutoscalerCheck);
    if (!options_.show_hints) return;
    plan.notes[waiting.slice] =
        "; no cluster autoscaler was found (ConfigMap kube-system/cluster-autoscaler-status): --scale-up=scout asks "
        "for nodes without one";
  }

  [[nodiscard]] std::vector<ExistingScaleUp> existing(const WaitingSlices& waiting) const override {
    std::vector<ExistingScaleUp> out;
    for (const PodPtr& scout : scouts_) {
      ExistingScaleUp each{scout->key, scout->uid, scout->created, slice_of_scout(*scout), scout->terminating()};
      const auto found = waiting.find(each.slice);
      if (!each.terminating && found != waiting.end()) decide(*found->second, *scout, each);
      out.push_back(std::move(each));
    }
    return out;
  }

  [[nodiscard]] std::optional<plan::Action> create(const WaitingSlice& waiting) override {
    const auto [avoided, is_new] = avoided_.try_emplace(waiting.lacks.get());
    if (is_new) avoided->second = avoided_domains(*waiting.lacks, inventory_);
    return plan::Action::create(kPods, Object(scout_pod(*waiting.slice, avoided->second, options_)));
  }

  [[nodiscard]] std::string note_of_new(const Slice& slice) const override {
    return note_of_asking({options_.namespace_name, scale_up_name(slice.key)});
  }

 private:
  void decide(const WaitingSlice& waiting, const PodView& scout, ExistingScaleUp& out) const {
    const bool may_stay = keeps_scout(waiting, scout) && !scout.finished() && !is_node_used(scout);
    out.kept = may_stay && !has_timed_out(scout, out) && !is_domain_complete(scout, *waiting.lacks) &&
               !avoids_removed_domain(scout, waiting.slice->topology_key);
    if (!out.kept) return;
    out.note = note_of(scout, *waiting.slice);
    const std::optional<Timestamp> due = unsuccessful_at(scout, options_);
    if (!due) return;
    if (now_ >= *due) {
      out.state = ScaleUpState::kUnsuccessful;
      return;
    }
    out.unsuccessful_at = due;
    if (scale_up_of(waiting, options_) == ScaleUp::kAuto) set_earlier(out.changes_at, now_ + kAutoscalerCheck);
  }

  /// A scout with a node is kept while no autoscaler is found: the domain may still become whole, and without the scout
  /// an autoscaler that does not report its status would remove the nodes.
  [[nodiscard]] bool keeps_scout(const WaitingSlice& waiting, const PodView& scout) const {
    return wants(waiting) || (scale_up_of(waiting, options_) == ScaleUp::kAuto && !scout.node_name.empty());
  }

  /// The scout excludes a domain that was removed since: the autoscaler could not add that domain again for it.
  [[nodiscard]] bool avoids_removed_domain(const PodView& scout, const std::string& topology_key) const {
    if (!scout.node_name.empty() || scout.annotation(tpu::kScoutAvoids).empty()) return false;
    return std::ranges::any_of(split(scout.annotation(tpu::kScoutAvoids), ','), [&](const std::string& domain) {
      return inventory_.uses(topology_key, domain).empty();
    });
  }

  /// Another slice uses the scout's node.
  [[nodiscard]] bool is_node_used(const PodView& scout) const {
    const NodeUse* use = use_of(scout);
    return use != nullptr && !use->is_free() && !use->reserved;
  }

  /// The scout's domain is complete and free or reserved, and still the slice lacks a domain: it needs another one.
  [[nodiscard]] bool is_domain_complete(const PodView& scout, const NodeRequirements& requirements) const {
    const NodeUse* use = use_of(scout);
    if (use == nullptr) return false;
    const std::string& key = requirements.topology_key;
    const std::string& domain = domain_of_node(*use->node, key);
    const Obstacle obstacle = inventory_.check(requirements, domain).obstacle;
    if (obstacle != Obstacle::kOccupied) return obstacle == Obstacle::kNone;
    return std::ranges::all_of(inventory_.uses(key, domain),
                               [](const NodeUse* each) { return each->is_free() || each->reserved; });
  }

  /// The scout has had a node for so long that the other nodes of its domain will not be added.
  [[nodiscard]] bool has_timed_out(const PodView& scout, ExistingScaleUp& out) const {
    if (scout.node_name.empty() || !scout.created) return false;
    const Timestamp due = *scout.created + 2 * options_.timeout;
    if (now_ < due) out.changes_at = due;
    return now_ >= due;
  }

  /// The use of its node; null without one.
  [[nodiscard]] const NodeUse* use_of(const PodView& scout) const {
    return scout.node_name.empty() ? nullptr : inventory_.use_of(scout.node_name);
  }

  [[nodiscard]] std::string note_of(const PodView& scout, const Slice& slice) const {
    const NodeUse* use = use_of(scout);
    if (use == nullptr) return note_of_asking(scout.key);
    return fmt::format("; scout pod {} has a node of {}, which is not whole yet", scout.key.to_string(),
                       domain_of_node(*use->node, slice.topology_key));
  }

  static std::string note_of_asking(const ObjectKey& scout) {
    return fmt::format("; scout pod {} asks the cluster autoscaler for nodes", scout.to_string());
  }

  const std::vector<PodPtr>& scouts_;
  Inventory& inventory_;
  const bool has_autoscaler_;
  const Timestamp now_;
  const ScaleUpOptions& options_;
  std::map<const NodeRequirements*, std::vector<std::string>> avoided_;
};

Json tolerations_of(const PodView& pod) {
  Json tolerations = Json::array();
  for (const TolerationView& each : pod.scheduling->tolerations) {
    Json toleration = {{"operator", each.exists ? "Exists" : "Equal"}};
    if (!each.key.empty()) toleration["key"] = each.key;
    if (!each.exists) toleration["value"] = each.value;
    if (!each.effect.empty()) toleration["effect"] = each.effect;
    tolerations.push_back(std::move(toleration));
  }
  return tolerations;
}

/// The pod's required node affinity, without the avoided domains.
Json node_affinity(const PodView& pod, const std::string& topology_key, const std::vector<std::string>& avoided) {
  Json required = pod.scheduling->node_affinity.empty()
                      ? Json::object()
                      : parse_json(pod.scheduling->node_affinity).value_or(Json::object());
  if (!avoided.empty()) {
    Json& terms = required["nodeSelectorTerms"];
    const bool none = !terms.is_array() || terms.empty();
    if (none) terms = Json::array({Json::object()});
    for (Json& term : terms) {
      if (term.empty() && !none) continue;  // An empty term matches no node.
      term["matchExpressions"].push_back({{"key", topology_key}, {"operator", "NotIn"}, {"values", avoided}});
    }
  }
  return required;
}

Json affinity_of(const Slice& slice, const PodView& pod, const std::vector<std::string>& avoided) {
  const Json any_slice = {{"key", tpu::kSlice}, {"operator", "Exists"}};
  const Json away = {{"labelSelector", {{"matchExpressions", Json::array({any_slice})}}},
                     {"namespaceSelector", Json::object()},
                     {"topologyKey", slice.topology_key}};
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  Json affinity = {{"podAntiAffinity", {{kRequired, Json::array({away})}}}};
  if (Json required = node_affinity(pod, slice.topology_key, avoided); !required.empty()) {
    affinity["nodeAffinity"][kRequired] = std::move(required);
  }
  return affinity;
}

/// The container as the Pod Security Standard "restricted" demands it.
Json container_of(const PodView& pod, const ScaleUpOptions& options) {
  const std::string chips = std::to_string(tpu::chips_of(pod));
  Json requests = {{tpu::kTpuResource, chips}};
  for (const ResourceAmount& each : pod.scheduling->requests) requests[each.name.str()] = each.quantity();
  return {{"name", "scout"},
          {"image", options.image},
          {"resources", {{"limits", {{tpu::kTpuResource, chips}}}, {"requests", std::move(requests)}}},
          {"securityContext",
           {{"allowPrivilegeEscalation", false},
            {"readOnlyRootFilesystem", true},
            {"capabilities", {{"drop", Json::array({"ALL"})}}}}}};
}

}  // namespace

bool is_scout(const PodView& pod, const ScaleUpOptions& options) {
  return pod.key.namespace_name == options.namespace_name && !pod.annotation(tpu::kScaleUpFor).empty();
}

ObjectKey slice_of_scout(const PodView& scout) { return slice_of_scale_up(scout.annotation(tpu::kScaleUpFor)); }

bool may_bring_nodes(const PodView& scout, Timestamp now, const ScaleUpOptions& options) {
  const std::optional<Timestamp> due = unsuccessful_at(scout, options);
  return is_live(scout) && (!due || now < *due);
}

ScaleUpPlan plan_scouts(const std::vector<WaitingSlice>& waiting, const std::vector<PodPtr>& scouts,
                        Inventory& inventory, bool has_autoscaler, Timestamp now, const ScaleUpOptions& options) {
  Scouts means(scouts, inventory, has_autoscaler, now, options);
  return plan_scale_up(waiting, means, now, options);
}

Json scout_pod(const Slice& slice, const std::vector<std::string>& avoided, const ScaleUpOptions& options) {
  const PodView& host = *slice.hosts.front();
  Json selector = Json::object();
  for (const auto& [label, value] : host.scheduling->node_selector) selector[label] = value;
  Json pod;
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  pod["metadata"] = {{"name", scale_up_name(slice.key)},
                     {"namespace", options.namespace_name},
                     {"labels", {{tpu::kSlice, tpu::kNoSlice}, {tpu::kAppName, kScoutPriorityClass}}},
                     {"annotations",
                      {{tpu::kScaleUpFor, slice.key.to_string()},
                       {tpu::kScoutAvoids, fmt::format("{}", fmt::join(avoided, ","))},
                       {"cluster-autoscaler.kubernetes.io/safe-to-evict", "true"}}}};
  pod["spec"] = {{"priorityClassName", kScoutPriorityClass},
                 {"automountServiceAccountToken", false},
                 {"enableServiceLinks", false},
                 {"terminationGracePeriodSeconds", 0},
                 {"securityContext",
                  {{"runAsNonRoot", true}, {"runAsUser", 65534}, {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
                 {"nodeSelector", std::move(selector)},
                 {"tolerations", tolerations_of(host)},
                 {"affinity", affinity_of(slice, host, avoided)},
                 {"containers", Json::array({container_of(host, options)})}};
  return pod;
}

}  // namespace tpuslice::placement
