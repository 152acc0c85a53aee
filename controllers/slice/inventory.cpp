#include "controllers/slice/inventory.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "controllers/slice/node_match.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

/// Why the slice cannot use the node, which matches its requirements; empty if it can.
std::string unusable_reason(const NodeRequirements& requirements, const NodeView& node) {
  const std::string& name = node.key.name;
  if (node.unschedulable) return fmt::format("node {} is cordoned", name);
  if (const std::string ending = removal_reason(node); !ending.empty()) return fmt::format("node {} {}", name, ending);
  if (node.tpu_chips == 0) return fmt::format("node {} advertises no TPU chips", name);
  if (requirements.chips > node.tpu_chips || node.tpu_chips % requirements.chips != 0) {
    return fmt::format("node {} has {} chips, a pod asks for {}", name, node.tpu_chips, requirements.chips);
  }
  for (const PodRequirements& each : requirements.pods) {
    const std::string taint = untolerated_taint(*each.pod, node);
    if (!taint.empty()) return fmt::format("node {} has taint {}", name, taint);
  }
  return {};
}

bool is_ready(const NodeView& node) { return node.ready && !node.deletion; }

void add_hostname(NodeRequirements& requirements, const PodView& pod) {
  const auto hostname = pod.scheduling->node_selector.find(tpu::kHostnameLabel);
  const std::optional<int> host = host_index(pod);
  if (hostname == pod.scheduling->node_selector.end() || !host) return;
  requirements.hostnames.resize(static_cast<std::size_t>(requirements.hosts));
  requirements.hostnames[static_cast<std::size_t>(*host)] = hostname->second;
}

}  // namespace

std::string domain_noun(const std::string& topology_key, std::size_t count) {
  const char* plural = count == 1 ? "" : "s";
  if (topology_key == tpu::kNodePoolLabel) return fmt::format("node pool{}", plural);
  return fmt::format("value{} of {}", plural, topology_key);
}

const std::string& domain_of_node(const NodeView& node, const std::string& topology_key) {
  return value_of(node.labels, topology_key);
}

std::string domain_of(const PodView& pod, const std::string& topology_key, const NodeView* node) {
  if (node != nullptr) return value_of(node->labels, topology_key);
  return pod.annotation(tpu::kPlacedIn);
}

NodeRequirements node_requirements(const Slice& slice) {
  NodeRequirements requirements;
  requirements.topology_key = slice.topology_key;
  requirements.hosts = slice.size;
  for (const PodPtr& pod : slice.hosts) {
    if (!pod->node_name.empty()) continue;  // A bound pod needs no other node.
    ++requirements.open_hosts;
    requirements.chips = pod->tpu_chips;
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

Inventory::Inventory(const std::vector<NodePtr>& nodes, const std::vector<PodPtr>& pods,
                     const std::vector<Slice>& slices) {
  for (const NodePtr& node : nodes) nodes_[node->key.name].node = node;
  std::vector<PodPtr> with_tpus;
  std::ranges::copy_if(pods, std::back_inserter(with_tpus), [](const PodPtr& pod) { return pod->tpu_chips > 0; });
  add_users(with_tpus);
  for (const Slice& slice : slices) occupy_domains_of(slice);
}

void Inventory::add_users(const std::vector<PodPtr>& pods) {
  for (const PodPtr& pod : pods) {
    if (pod->node_name.empty() || pod->finished()) continue;
    const auto found = nodes_.find(pod->node_name);
    if (found == nodes_.end() || !found->second.user.empty()) continue;
    NodeUse& use = found->second;
    use.user = display_name(*pod);
    use.bound = true;
    use.ending = pod->terminating();
    if (in_slice(*pod)) use.slice = slice_key(*pod);
  }
}

void Inventory::occupy_domains_of(const Slice& slice) {
  if (slice.size < 2) return;
  std::string occupied;
  for (const PodPtr& pod : slice.hosts) {
    if (pod->finished() || is_gated(*pod)) continue;
    const auto found = nodes_.find(pod->node_name);
    if (!pod->node_name.empty() && found == nodes_.end()) continue;  // Deleted, or of another accelerator.
    const std::string domain =
        domain_of(*pod, slice.topology_key, found == nodes_.end() ? nullptr : found->second.node.get());
    if (domain.empty() || domain == occupied) continue;
    set_use(slice.topology_key, domain, {.user = display_name(slice), .slice = slice.key});
    occupied = domain;
  }
}

const Inventory::Domains& Inventory::domains_of(const std::string& topology_key) {
  const auto [entry, inserted] = by_key_.try_emplace(topology_key);
  if (inserted) {
    for (auto& [name, use] : nodes_) {
      const std::string& value = value_of(use.node->labels, topology_key);
      if (!value.empty()) entry->second[value].push_back(&use);
    }
  }
  return entry->second;
}

const Inventory::NodeUses& Inventory::nodes_of(const std::string& topology_key, const std::string& domain) {
  static const NodeUses kNone;
  const Domains& all = domains_of(topology_key);
  const auto found = all.find(domain);
  return found == all.end() ? kNone : found->second;
}

std::vector<std::string> Inventory::domains(const std::string& topology_key) {
  std::vector<std::string> names;
  for (const auto& [name, nodes] : domains_of(topology_key)) names.push_back(name);
  return names;
}

std::vector<std::string> Inventory::nodes_by_host(const NodeRequirements& requirements, const std::string& domain) {
  std::vector<std::string> nodes;
  if (requirements.pods.size() != 1 || requirements.chips <= 0) return nodes;
  for (const NodeUse* use : nodes_of(requirements.topology_key, domain)) {
    const std::int64_t pods = use->node->tpu_chips / requirements.chips;
    nodes.insert(nodes.end(), static_cast<std::size_t>(pods), use->node->key.name);
  }
  return nodes;
}

std::size_t Inventory::free_nodes(const std::string& topology_key, const std::string& domain) {
  return static_cast<std::size_t>(
      std::ranges::count_if(nodes_of(topology_key, domain), [](const NodeUse* use) { return use->user.empty(); }));
}

std::vector<const NodeUse*> Inventory::uses(const std::string& topology_key, const std::string& domain) {
  const NodeUses& nodes = nodes_of(topology_key, domain);
  return {nodes.begin(), nodes.end()};
}

const NodeUse* Inventory::use_of(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

const NodeView* Inventory::node_by_hostname(const std::string& hostname) {
  if (hostnames_.empty()) {
    for (const auto& [name, use] : nodes_)
      hostnames_.emplace(value_of(use.node->labels, tpu::kHostnameLabel), use.node.get());
  }
  const auto found = hostnames_.find(hostname);
  return found == hostnames_.end() ? nullptr : found->second;
}

void Inventory::occupy(const std::string& topology_key, const std::string& domain, const std::string& user) {
  set_use(topology_key, domain, {.user = user});
}

void Inventory::reserve(const std::string& topology_key, const std::string& domain, const std::string& user,
                        std::optional<Timestamp> backfill_until) {
  set_use(topology_key, domain, {.user = user, .reserved = true, .backfill_until = backfill_until});
}

void Inventory::set_use(const std::string& topology_key, const std::string& domain, const NodeUse& use) {
  for (NodeUse* each : nodes_of(topology_key, domain)) {
    if (!each->user.empty()) continue;
    NodePtr node = std::move(each->node);
    *each = use;
    each->node = std::move(node);
  }
}

void Inventory::cancel_reservations(const std::string& topology_key, const std::string& domain) {
  for (NodeUse* use : nodes_of(topology_key, domain)) {
    if (use->reserved) *use = {.node = use->node};
  }
}

void Inventory::release(const std::string& topology_key, const std::string& domain, const std::string& user) {
  for (NodeUse* use : nodes_of(topology_key, domain)) {
    if (use->user == user) *use = {.node = use->node};
  }
}

std::vector<bool> Inventory::matched_nodes(const NodeRequirements& requirements, const NodeUses& nodes) {
  if (requirements.pods.empty()) return {};
  std::vector<bool> matched(nodes.size());
  for (const PodRequirements& pod : requirements.pods) {
    bool any = false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!pod.match(*nodes[i]->node)) continue;
      matched[i] = true;
      any = true;
    }
    if (!any) return {};
  }
  return matched;
}

Fit Inventory::check(const NodeRequirements& requirements, const std::string& domain, std::string_view viewer) {
  Fit fit = compare(requirements, domain);
  return fit.obstacle == Obstacle::kNone ? occupancy(requirements.topology_key, domain, viewer) : fit;
}

Fit Inventory::compare(const NodeRequirements& requirements, const std::string& domain) {
  const NodeUses& nodes = nodes_of(requirements.topology_key, domain);
  if (requirements.chips <= 0) return {Obstacle::kMismatch, {}};  // A user set the gate; admission gates only TPU pods.
  if (requirements.too_many) return {Obstacle::kMismatch, {}};
  const std::vector<bool> matched = matched_nodes(requirements, nodes);
  if (matched.empty()) return {Obstacle::kMismatch, {}};
  std::int64_t chips = 0;
  std::size_t ready = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeUse* use = nodes[i];
    if (!matched[i]) {
      return {Obstacle::kUnusable, fmt::format("{}: node {} does not match the pods' node selector and affinity",
                                               domain, use->node->key.name)};
    }
    if (std::string reason = unusable_reason(requirements, *use->node); !reason.empty()) {
      return {Obstacle::kUnusable, fmt::format("{}: {}", domain, reason)};
    }
    if (use->node->tpu_chips != nodes.front()->node->tpu_chips) {
      return {Obstacle::kUnusable, fmt::format("{}: nodes {} and {} have different numbers of chips", domain,
                                               nodes.front()->node->key.name, use->node->key.name)};
    }
    chips += use->node->tpu_chips;
    if (is_ready(*use->node)) ++ready;
  }
  const std::int64_t wanted = requirements.chips * requirements.hosts;
  const std::int64_t nodes_wanted = wanted / nodes.front()->node->tpu_chips;
  if (chips > wanted) {
    return {Obstacle::kUnusable,
            fmt::format("{} has {} nodes, the slice needs exactly {}", domain, nodes.size(), nodes_wanted)};
  }
  if (chips < wanted || ready < nodes.size()) {
    return {Obstacle::kUnusable, fmt::format("{} has {} of {} nodes Ready", domain, ready, nodes_wanted)};
  }
  return {};
}

Fit Inventory::occupancy(const std::string& topology_key, const std::string& domain, std::string_view viewer) {
  for (const NodeUse* use : nodes_of(topology_key, domain)) {
    if (use->user.empty()) continue;
    return {Obstacle::kOccupied, fmt::format("{} {} {}", domain, use->reserved ? "is reserved for" : "runs",
                                             visible_name(use->user, viewer))};
  }
  return {};
}

bool Inventory::is_ending(const std::string& topology_key, const std::string& domain) {
  bool any = false;
  for (const NodeUse* use : nodes_of(topology_key, domain)) {
    if (use->user.empty() || use->reserved) continue;
    if (!use->ending) return false;
    any = true;
  }
  return any;
}

}  // namespace tpuslice::slice
