#include "controllers/placement/domains/inventory.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "controllers/placement/accelerator_cache.h"
#include "tpu/chips.h"

namespace tpuslice::placement {

Inventory::Inventory(AcceleratorCache& cache, Timestamp now) : cache_(cache), domains_(cache.domains()), now_(now) {}

Inventory::~Inventory() {
  for (auto& [node, use] : std::views::reverse(before_)) Domains::set_use(*node, std::move(use));
}

Fit occupancy(const std::string& name, const Domain& domain, std::string_view viewer) {
  if (domain.used == 0) return {};
  for (const NodeUse* use : domain.nodes) {
    if (use->is_free()) continue;
    return {Obstacle::kOccupied, fmt::format("{} {} {}", name, use->reserved ? "is reserved for" : "runs",
                                             visible_name(use->user(), viewer))};
  }
  return {};
}

std::optional<Timestamp> Inventory::ending_until(const Domain& domain) const {
  std::optional<Timestamp> out;
  for (const NodeUse* use : domain.nodes) {
    if (use->is_free() || use->reserved) continue;
    if (!use->is_ending(now_)) return std::nullopt;
    set_earlier(out, *use->pod->deletion + Use::kMaxEnding);
  }
  return out;
}

std::shared_ptr<Comparison> Inventory::comparison(const NodeRequirements& requirements) {
  return cache_.comparison(requirements);
}

const Domain& Inventory::find(const std::string& topology_key, const std::string& domain) {
  static const Domain kNone;
  const Domains::ByValue& all = domains_.of_key(topology_key);
  const auto found = all.find(domain);
  return found == all.end() ? kNone : found->second;
}

std::vector<std::string> Inventory::nodes_by_host(const NodeRequirements& requirements, const std::string& domain) {
  std::vector<std::string> nodes;
  if (requirements.pods.size() != 1 || requirements.chips <= 0) return nodes;
  for (const NodeUse* use : find(requirements.topology_key, domain).nodes) {
    const std::int64_t pods = tpu::chips_of(*use->node) / requirements.chips;
    nodes.insert(nodes.end(), static_cast<std::size_t>(pods), use->node->key.name);
  }
  return nodes;
}

std::size_t Inventory::free_nodes(const std::string& topology_key, const std::string& domain) {
  const Domain& of = find(topology_key, domain);
  return of.nodes.size() - of.used;
}

std::vector<const NodeUse*> Inventory::uses(const std::string& topology_key, const std::string& domain) {
  const std::vector<NodeUse*>& nodes = find(topology_key, domain).nodes;
  return {nodes.begin(), nodes.end()};
}

Fit Inventory::check(const NodeRequirements& requirements, const std::string& domain, std::string_view viewer) {
  Fit fit = compare(requirements, domain, find(requirements.topology_key, domain).nodes);
  return fit.obstacle == Obstacle::kNone ? occupancy(requirements.topology_key, domain, viewer) : fit;
}

Fit Inventory::occupancy(const std::string& topology_key, const std::string& domain, std::string_view viewer) {
  return placement::occupancy(domain, find(topology_key, domain), viewer);
}

std::optional<Timestamp> Inventory::ending_until(const std::string& topology_key, const std::string& domain) {
  return ending_until(find(topology_key, domain));
}

void Inventory::add_user(const PodPtr& pod) {
  NodeUse* const node = domains_.find(pod->node_name);
  if (node != nullptr && node->is_free()) set_use(*node, {.pod = pod});
}

void Inventory::occupy(const std::string& topology_key, const std::string& domain, const std::string& user) {
  set_free_nodes(topology_key, domain, {.claimant = user});
}

void Inventory::reserve(const std::string& topology_key, const std::string& domain, const std::string& user,
                        std::optional<Timestamp> backfill_until) {
  set_free_nodes(topology_key, domain, {.claimant = user, .reserved = true, .backfill_until = backfill_until});
}

void Inventory::cancel_reservations(const std::string& topology_key, const std::string& domain) {
  for (NodeUse* use : find(topology_key, domain).nodes) {
    if (use->reserved) set_use(*use, {});
  }
}

void Inventory::release(const std::string& topology_key, const std::string& domain, const SharedString& claimant) {
  for (NodeUse* use : find(topology_key, domain).nodes) {
    if (use->claimant == claimant) set_use(*use, {});
  }
}

void Inventory::set_free_nodes(const std::string& topology_key, const std::string& domain, const Use& use) {
  for (NodeUse* node : find(topology_key, domain).nodes) {
    if (node->is_free()) set_use(*node, use);
  }
}

void Inventory::set_use(NodeUse& node, Use use) {
  before_.emplace_back(&node, node);
  Domains::set_use(node, std::move(use));
}

}  // namespace tpuslice::placement
