#include "controllers/placement/domains/domains.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/check.h"
#include "tpu/labels.h"

namespace tpuslice::placement {

std::string Use::user() const {
  if (pod != nullptr) return display_name(*pod);
  return occupant != nullptr ? occupant->second : claimant.str();
}

ObjectKey Use::slice() const {
  if (pod != nullptr) return in_slice(*pod) ? slice_key(*pod) : ObjectKey();
  return occupant != nullptr ? occupant->first : ObjectKey();
}

void Domains::set_node(const std::string& name, const NodePtr& node) {
  hostnames_.reset();
  const auto known = nodes_.find(name);
  if (known == nodes_.end()) {
    if (node != nullptr) add_node(node);
    return;
  }
  NodeUse& use = known->second;
  for (auto& [topology_key, domains] : keys_) {
    const std::string& before = domain_of_node(*use.node, topology_key);
    const std::string after = node == nullptr ? std::string() : domain_of_node(*node, topology_key);
    if (const auto old = domains.find(before); old != domains.end()) {
      old->second.revision = ++revision_;
      if (before != after) leave(use, domains, old);
    }
    if (!after.empty() && before != after) join(use, domains[after]);
  }
  auto entry = nodes_.extract(known);
  if (node == nullptr) return;
  use.node = node;
  entry.key() = node->key.name;
  nodes_.insert(std::move(entry));
  if (use.pod == nullptr) set_use(use, use_by_occupant(use));
}

void Domains::add_node(const NodePtr& node) {
  NodeUse& use = nodes_[node->key.name];
  use.node = node;
  for (auto& [topology_key, domains] : keys_) {
    const std::string& domain = domain_of_node(*node, topology_key);
    if (!domain.empty()) join(use, domains[domain]);
  }
  set_use(use, use_by_occupant(use));
}

void Domains::set_user(const std::string& node, PodPtr pod) {
  NodeUse* const use = find(node);
  TPUSLICE_CHECK_MSG(use != nullptr, node);
  set_use(*use, pod == nullptr ? use_by_occupant(*use) : Use{.pod = std::move(pod)});
}

void Domains::occupy(const DomainName& domain, const ObjectKey& slice, const std::string& display_name) {
  Domain& occupied = key(domain.first)[domain.second];
  if (!occupied.occupants.emplace(slice, display_name).second) return;
  update_occupied(occupied);
}

void Domains::vacate(const DomainName& domain, const ObjectKey& slice) {
  ByValue& domains = key(domain.first);
  const auto found = domains.find(domain.second);
  if (found == domains.end() || found->second.occupants.erase(slice) == 0) return;
  update_occupied(found->second);
  if (found->second.nodes.empty() && found->second.occupants.empty()) domains.erase(found);
}

void Domains::update_occupied(Domain& domain) {
  for (NodeUse* node : domain.nodes) {
    if (node->pod == nullptr) set_use(*node, use_by_occupant(*node));
  }
}

Use Domains::use_by_occupant(const NodeUse& node) {
  const Occupant* first = nullptr;
  for (const Domain* domain : node.domains) {
    if (domain->occupants.empty()) continue;
    const Occupant& candidate = *domain->occupants.begin();
    if (first == nullptr || candidate.first < first->first) first = &candidate;
  }
  return {.occupant = first};
}

void Domains::set_use(NodeUse& node, Use use) {
  const bool was_used = !node.is_free();
  const bool is_used = !use.is_free();
  for (Domain* domain : node.domains) {
    if (was_used) --domain->used;
    if (is_used) ++domain->used;
  }
  static_cast<Use&>(node) = std::move(use);
}

void Domains::drop_unknown_keys() {
  std::erase_if(keys_, [](const auto& key) { return key.second.empty(); });
}

NodeUse* Domains::find(const std::string& node) {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

const NodeUse* Domains::find(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

const NodeView* Domains::node_by_hostname(const std::string& hostname) {
  if (!hostnames_) {
    hostnames_.emplace();
    for (const auto& [name, use] : nodes_)
      hostnames_->emplace(value_of(use.node->labels, tpu::kHostnameLabel), use.node.get());
  }
  const auto found = hostnames_->find(hostname);
  return found == hostnames_->end() ? nullptr : found->second;
}

Domains::ByValue& Domains::key(const std::string& topology_key) {
  const auto [entry, is_new] = keys_.try_emplace(topology_key);
  if (is_new) {
    for (auto& [name, use] : nodes_) {
      const std::string& value = domain_of_node(*use.node, topology_key);
      if (!value.empty()) join(use, entry->second[value]);
    }
  }
  return entry->second;
}

void Domains::join(NodeUse& node, Domain& domain) {
  const auto by_name = [](const NodeUse* a, const NodeUse* b) { return a->node->key.name < b->node->key.name; };
  domain.nodes.insert(std::ranges::lower_bound(domain.nodes, &node, by_name), &node);
  domain.revision = ++revision_;
  if (!node.is_free()) ++domain.used;
  node.domains.push_back(&domain);
}

void Domains::leave(NodeUse& node, ByValue& domains, ByValue::iterator domain) {
  std::erase(domain->second.nodes, &node);
  node.domains.erase(std::ranges::find(node.domains, &domain->second));
  if (!node.is_free()) --domain->second.used;
  if (domain->second.nodes.empty() && domain->second.occupants.empty()) domains.erase(domain);
}

}  // namespace tpuslice::placement
