#include "controllers/placement/domains/node_match.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/selector.h"
#include "tpu/chips.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

/// Further ones are ignored: each is compared with a node of each domain.
constexpr std::size_t kMaxPreferredTerms = 16;

constexpr std::array<std::string_view, 3> kNodeStateTaints = {
    "node.kubernetes.io/unschedulable", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};

/// The node is removed or stopped soon.
constexpr std::array<std::string_view, 4> kRemovalTaints = {
    "ToBeDeletedByClusterAutoscaler", "cloud.google.com/impending-node-termination",
    "cloud.google.com/maintenance-window-started", "node.kubernetes.io/out-of-service"};
/// GKE is maintaining the node, or was asked to.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kMaintenanceLabels = {
    {{"cloud.google.com/active-node-maintenance", "ONGOING"}, {"cloud.google.com/perform-maintenance", "true"}}};

bool tolerates(const TolerationView& toleration, const NodeTaint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (toleration.key.empty()) return toleration.exists;
  return toleration.key == taint.key && (toleration.exists || toleration.value == taint.value);
}

bool have_same_selector(const StringMap& a, const StringMap& b) {
  if (!a.contains(tpu::kHostnameLabel) && !b.contains(tpu::kHostnameLabel)) return a == b;
  const auto without_hostname = [](StringMap selector) {
    selector.erase(std::string(tpu::kHostnameLabel));
    return selector;
  };
  return without_hostname(a) == without_hostname(b);
}

void add_hostname(NodeRequirements& requirements, const PodView& pod) {
  const auto hostname = pod.scheduling->node_selector.find(tpu::kHostnameLabel);
  const std::optional<int> host = host_index(pod);
  if (hostname == pod.scheduling->node_selector.end() || !host) return;
  requirements.hostnames.resize(static_cast<std::size_t>(requirements.hosts));
  requirements.hostnames[static_cast<std::size_t>(*host)] = hostname->second;
}

}  // namespace

PodRequirements::PodRequirements(PodPtr from) : pod(std::move(from)) {
  if (!pod->scheduling->node_affinity.empty()) affinity = parse_json(pod->scheduling->node_affinity).value_or(Json());
  if (pod->scheduling->preferred_affinity.empty()) return;
  const Json terms = parse_json(pod->scheduling->preferred_affinity).value_or(Json());
  for (const Json& term : terms.is_array() ? terms : Json::array()) {
    const Json* const selector = find_path(term, {"preference"});
    if (selector == nullptr || preferred.size() == kMaxPreferredTerms) continue;
    preferred.emplace_back(int_at(term, {"weight"}), Json{{"nodeSelectorTerms", Json::array({*selector})}});
  }
}

std::int64_t PodRequirements::preference(const NodeView& node) const {
  std::int64_t sum = 0;
  for (const auto& [weight, selector] : preferred) {
    if (matches_node_selector(selector, node.labels, node.key.name).value_or(false)) sum += weight;
  }
  return sum;
}

bool PodRequirements::match(const NodeView& node) const {
  for (const auto& [key, value] : pod->scheduling->node_selector) {
    if (key == tpu::kHostnameLabel) continue;
    const auto label = node.labels.find(key);
    if (label == node.labels.end() || label->second != value) return false;
  }
  return !affinity || matches_node_selector(*affinity, node.labels, node.key.name).value_or(false);
}

std::string untolerated_taint(const PodView& pod, const NodeView& node) {
  for (const NodeTaint& taint : node.taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    if (std::ranges::count(kNodeStateTaints, taint.key) > 0) continue;
    const bool tolerated = std::ranges::any_of(
        pod.scheduling->tolerations, [&](const TolerationView& toleration) { return tolerates(toleration, taint); });
    if (tolerated) continue;
    return taint.value.empty() ? fmt::format("{}:{}", taint.key, taint.effect)
                               : fmt::format("{}={}:{}", taint.key, taint.value, taint.effect);
  }
  return {};
}

std::string lacking_resource(const PodView& pod, std::int64_t pods, const NodeView& node) {
  for (const ResourceAmount& request : pod.scheduling->requests) {
    const ResourceAmount allocatable = {request.name, amount_of(*node.allocatable, request.name)};
    if (request.amount <= allocatable.amount / pods) continue;
    const std::string who = pods == 1 ? "a pod requests" : fmt::format("each of {} pods requests", pods);
    return fmt::format("has {} {}, {} {}", allocatable.quantity(), request.name, who, request.quantity());
  }
  return {};
}

std::string removal_reason(const NodeView& node) {
  for (const NodeTaint& taint : node.taints) {
    if (std::ranges::count(kRemovalTaints, taint.key) > 0) return fmt::format("has taint {}", taint.key);
  }
  for (const auto& [label, value] : kMaintenanceLabels) {
    const auto found = node.labels.find(label);
    if (found != node.labels.end() && found->second == value) return fmt::format("has label {}={}", label, value);
  }
  return {};
}

Capacity capacity_of(const NodeView& node) {
  const auto is_true = [&](std::string_view label) { return value_of(node.labels, label) == "true"; };
  if (is_true("cloud.google.com/gke-spot") || is_true("cloud.google.com/gke-preemptible")) return Capacity::kSpot;
  const bool reserved = !value_of(node.labels, "cloud.google.com/reservation-name").empty();
  return reserved ? Capacity::kReservation : Capacity::kOnDemand;
}

std::string unhealthy_partition(const NodeView& node) {
  constexpr std::string_view kPrefix = "cloud.google.com/gke-tpu-";
  for (const auto& [label, value] : node.labels) {
    const std::string_view name = label;
    if (!name.ends_with("-state") || !name.starts_with(kPrefix) || value == "HEALTHY") continue;
    return fmt::format("{}={}", name, std::string_view(value));
  }
  return {};
}

std::optional<Timestamp> scheduled_maintenance(const NodeView& node) {
  const std::string& text = value_of(node.labels, "cloud.google.com/scheduled-maintenance-time");
  constexpr std::int64_t kMaxSeconds = 1LL << 33;  // The year 2242.
  const std::optional<std::int64_t> seconds = parse_integer<std::int64_t>(text);
  if (!seconds || *seconds <= 0 || *seconds > kMaxSeconds) return std::nullopt;
  return Timestamp(std::chrono::seconds(*seconds));
}

bool have_same_requirements(const PodView& a, const PodView& b) {
  if (tpu::chips_of(a) != tpu::chips_of(b)) return false;
  const PodScheduling& first = *a.scheduling;
  const PodScheduling& second = *b.scheduling;
  return a.scheduling.shares_with(b.scheduling) ||
         (have_same_selector(first.node_selector, second.node_selector) &&
          first.node_affinity == second.node_affinity && first.preferred_affinity == second.preferred_affinity &&
          first.tolerations == second.tolerations && first.requests == second.requests);
}

NodeRequirements node_requirements(const Slice& slice) {
  NodeRequirements requirements;
  requirements.topology_key = slice.topology_key;
  requirements.hosts = slice.size;
  for (const PodPtr& pod : slice.hosts) {
    if (!pod->node_name.empty()) continue;  // A bound pod needs no other node.
    ++requirements.open_hosts;
    requirements.chips = tpu::chips_of(*pod);
    add_hostname(requirements, *pod);
    if (requirements.too_many) continue;
    const bool known = std::ranges::any_of(
        requirements.pods, [&](const PodRequirements& other) { return have_same_requirements(*pod, *other.pod); });
    if (known) continue;
    requirements.too_many = requirements.pods.size() == kMaxRequirementsOfSlice;
    if (!requirements.too_many) requirements.pods.emplace_back(pod);
  }
  return requirements;
}

bool are_equivalent(const NodeRequirements& a, const NodeRequirements& b) {
  return a.topology_key == b.topology_key && a.chips == b.chips && a.hosts == b.hosts && a.too_many == b.too_many &&
         std::ranges::equal(a.pods, b.pods, [](const PodRequirements& left, const PodRequirements& right) {
           return have_same_requirements(*left.pod, *right.pod);
         });
}

}  // namespace tpuslice::placement
