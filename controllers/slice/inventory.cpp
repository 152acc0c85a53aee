#include "controllers/slice/inventory.h"

#include <algorithm>

#include <fmt/format.h>

#include "controllers/slice/node_match.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

const std::string& label_of(const NodeView& node, std::string_view label) {
  static const std::string kNone;
  const auto found = node.labels.find(label);
  return found == node.labels.end() ? kNone : found->second;
}

bool chosen_by_any(const Wish& wish, const NodeView& node) {
  return std::ranges::any_of(wish.choosers, [&](const PodPtr& pod) { return selects(*pod, node); });
}

/// What is wrong with one node; empty for a sound one.
std::string flaw_of(const Wish& wish, const NodeView& node) {
  const std::string& name = node.key.name;
  if (!chosen_by_any(wish, node)) return fmt::format("node {} is not what the pods select", name);
  if (node.unschedulable) return fmt::format("node {} is cordoned", name);
  if (node.tpu_chips == 0) return fmt::format("node {} advertises no TPU chips", name);
  if (wish.chips > node.tpu_chips || node.tpu_chips % wish.chips != 0) {
    return fmt::format("node {} has {} chips, a pod asks for {}", name, node.tpu_chips, wish.chips);
  }
  for (const PodPtr& pod : wish.choosers) {
    const std::string taint = untolerated_taint(*pod, node);
    if (!taint.empty()) return fmt::format("node {} has taint {}", name, taint);
  }
  return {};
}

bool is_ready(const NodeView& node) { return node.ready && !node.deletion; }

}  // namespace

std::string domain_noun(const std::string& topology_key, std::size_t count) {
  const char* plural = count == 1 ? "" : "s";
  if (topology_key == tpu::kNodePoolLabel) return fmt::format("node pool{}", plural);
  return fmt::format("value{} of {}", plural, topology_key);
}

std::string domain_of(const PodView& pod, const std::string& topology_key, const NodeView* node) {
  if (node != nullptr) return label_of(*node, topology_key);
  const auto sent = pod.node_selector.find(topology_key);
  return sent == pod.node_selector.end() ? std::string() : sent->second;
}

Wish wish_of(const Slice& slice) {
  Wish wish;
  wish.topology_key = slice.topology_key;
  wish.hosts = static_cast<std::int64_t>(slice.hosts.size());
  for (const PodPtr& pod : slice.hosts) {
    if (pod == nullptr || !pod->node_name.empty()) continue;  // A pod with a node has nothing to choose.
    wish.chips = pod->tpu_chips;
    const bool known =
        std::ranges::any_of(wish.choosers, [&](const PodPtr& other) { return choose_alike(*pod, *other); });
    if (!known) wish.choosers.push_back(pod);
  }
  return wish;
}

bool same_wish(const Wish& a, const Wish& b) {
  return a.topology_key == b.topology_key && a.chips == b.chips && a.hosts == b.hosts &&
         std::ranges::equal(a.choosers, b.choosers,
                            [](const PodPtr& left, const PodPtr& right) { return choose_alike(*left, *right); });
}

Inventory::Inventory(const std::vector<NodePtr>& nodes, const std::vector<PodPtr>& pods,
                     const std::vector<Slice>& slices) {
  for (const NodePtr& node : nodes) places_[node->key.name] = {node, {}, false};
  for (const PodPtr& pod : pods) {
    if (pod->node_name.empty() || pod->finished() || pod->tpu_chips == 0) continue;
    const auto place = places_.find(pod->node_name);
    if (place != places_.end()) place->second.user = user_of(*pod);
  }
  for (const Slice& slice : slices) claim(slice);
}

void Inventory::claim(const Slice& slice) {
  if (slice.hosts.size() < 2) return;
  std::string claimed;
  for (const PodPtr& pod : slice.hosts) {
    if (pod == nullptr || pod->finished() || is_gated(*pod)) continue;
    const auto place = places_.find(pod->node_name);
    if (!pod->node_name.empty() && place == places_.end()) continue;  // Its node is gone, or not ours to see.
    const std::string domain =
        domain_of(*pod, slice.topology_key, place == places_.end() ? nullptr : place->second.node.get());
    if (domain.empty() || domain == claimed) continue;
    take(slice.topology_key, domain, name_of(slice));
    claimed = domain;
  }
}

const Inventory::Domains& Inventory::grouped(const std::string& topology_key) {
  const auto [entry, fresh] = by_key_.try_emplace(topology_key);
  if (fresh) {
    for (auto& [name, place] : places_) {
      const std::string& value = label_of(*place.node, topology_key);
      if (!value.empty()) entry->second[value].push_back(&place);
    }
  }
  return entry->second;
}

const Inventory::Places& Inventory::places_of(const std::string& topology_key, const std::string& domain) {
  static const Places kNone;
  const Domains& all = grouped(topology_key);
  const auto found = all.find(domain);
  return found == all.end() ? kNone : found->second;
}

std::vector<std::string> Inventory::domains(const std::string& topology_key) {
  std::vector<std::string> names;
  for (const auto& [name, places] : grouped(topology_key)) names.push_back(name);
  return names;
}

std::vector<std::string> Inventory::nodes_by_host(const Wish& wish, const std::string& domain) {
  std::vector<std::string> nodes;
  if (wish.choosers.size() != 1 || wish.chips <= 0) return nodes;
  for (const Place* place : places_of(wish.topology_key, domain)) {
    const std::int64_t pods = place->node->tpu_chips / wish.chips;
    nodes.insert(nodes.end(), static_cast<std::size_t>(pods), place->node->key.name);
  }
  return nodes;
}

std::size_t Inventory::free_nodes(const std::string& topology_key, const std::string& domain) {
  return static_cast<std::size_t>(
      std::ranges::count_if(places_of(topology_key, domain), [](const Place* place) { return place->user.empty(); }));
}

void Inventory::take(const std::string& topology_key, const std::string& domain, const std::string& user) {
  take(topology_key, domain, user, false);
}

void Inventory::keep(const std::string& topology_key, const std::string& domain, const std::string& user) {
  take(topology_key, domain, user, true);
}

void Inventory::take(const std::string& topology_key, const std::string& domain, const std::string& user, bool kept) {
  for (Place* place : places_of(topology_key, domain)) {
    if (!place->user.empty()) continue;
    place->user = user;
    place->kept = kept;
  }
}

void Inventory::give_back(const std::string& topology_key, const std::string& domain, const std::string& user) {
  for (Place* place : places_of(topology_key, domain)) {
    if (place->user != user) continue;
    place->user.clear();
    place->kept = false;
  }
}

Verdict Inventory::judge(const Wish& wish, const std::string& domain) {
  const Places& places = places_of(wish.topology_key, domain);
  if (wish.chips <= 0) return {Obstacle::kForeign, {}};  // Made by hand: admission gates no such pod.
  if (std::ranges::none_of(places, [&](const Place* place) { return chosen_by_any(wish, *place->node); })) {
    return {Obstacle::kForeign, {}};
  }
  for (const PodPtr& pod : wish.choosers) {
    if (std::ranges::none_of(places, [&](const Place* place) { return selects(*pod, *place->node); })) {
      return {Obstacle::kForeign, {}};
    }
  }
  std::int64_t chips = 0;
  std::size_t ready = 0;
  for (const Place* place : places) {
    if (std::string flaw = flaw_of(wish, *place->node); !flaw.empty()) {
      return {Obstacle::kBroken, fmt::format("{}: {}", domain, flaw)};
    }
    if (place->node->tpu_chips != places.front()->node->tpu_chips) {
      return {Obstacle::kBroken, fmt::format("{}: nodes {} and {} differ in their chips", domain,
                                             places.front()->node->key.name, place->node->key.name)};
    }
    chips += place->node->tpu_chips;
    if (is_ready(*place->node)) ++ready;
  }
  const std::int64_t wanted = wish.chips * wish.hosts;
  const std::int64_t nodes_wanted = wanted / places.front()->node->tpu_chips;
  if (chips > wanted) {
    return {Obstacle::kBroken,
            fmt::format("{} has {} nodes, the slice needs exactly {}", domain, places.size(), nodes_wanted)};
  }
  if (chips < wanted || ready < places.size()) {
    return {Obstacle::kBroken, fmt::format("{} has {} of {} nodes Ready", domain, ready, nodes_wanted)};
  }
  for (const Place* place : places) {
    if (place->user.empty()) continue;
    return {Obstacle::kBusy, fmt::format("{} {} {}", domain, place->kept ? "is kept for" : "runs", place->user)};
  }
  return {};
}

}  // namespace tpuslice::slice
