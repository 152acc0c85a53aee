#include "cmd/tpu-slice-sim/cluster/scheduling/affinity.h"

#include <algorithm>

namespace tpuslice::sim {

namespace {

bool in_namespaces(const PodTerm& term, const std::string& name, const Placement& placement) {
  if (term.namespaces.count(name) != 0) return true;
  if (!term.namespace_selector) return false;
  const auto labels = placement.namespaces.find(name);
  return labels != placement.namespaces.end() && all_match(*term.namespace_selector, labels->second);
}

bool matches(const PodTerm& term, const PodInfo& other, const Placement& placement) {
  return term.selector && in_namespaces(term, other.key.namespace_name, placement) &&
         all_match(*term.selector, other.labels);
}

bool matches_all(const std::vector<PodTerm>& terms, const PodInfo& other, const Placement& placement) {
  return std::all_of(terms.begin(), terms.end(), [&](const PodTerm& term) { return matches(term, other, placement); });
}

template <typename Visit>
void with_domain(const PodTerm& term, const NodeInfo& node, Visit visit) {
  const auto value = node.labels.find(term.topology_key);
  if (value != node.labels.end()) visit(std::make_pair(term.topology_key, value->second));
}

}  // namespace

AffinityCheck::AffinityCheck(const PodInfo& pod, const Placement& placement) : pod_(pod) {
  matches_itself_ = matches_all(pod.affinity, pod, placement);
  for (const PodInfo* other : placement.bound) {
    const auto found = placement.nodes.find(other->node_name);
    if (found == placement.nodes.end()) continue;
    const NodeInfo& where = found->second;
    if (!pod.affinity.empty() && matches_all(pod.affinity, *other, placement)) {
      for (const PodTerm& term : pod.affinity) {
        with_domain(term, where, [&](auto domain) {
          group_exists_ = true;
          attracting_.insert(std::move(domain));
        });
      }
    }
    for (const PodTerm& term : pod.anti_affinity) {
      if (!matches(term, *other, placement)) continue;
      with_domain(term, where, [&](auto domain) { repelling_.insert(std::move(domain)); });
    }
    for (const PodTerm& term : other->anti_affinity) {
      if (!matches(term, pod, placement)) continue;
      with_domain(term, where, [&](auto domain) { defended_.insert(std::move(domain)); });
    }
    weigh(pod, *other, where, placement);
  }
}

void AffinityCheck::weigh(const PodInfo& pod, const PodInfo& other, const NodeInfo& where, const Placement& placement) {
  const auto apply = [&](const std::vector<PodTerm>& terms, int sign) {
    for (const PodTerm& term : terms) {
      if (!matches(term, other, placement)) continue;
      with_domain(term, where, [&](auto domain) { weights_[std::move(domain)] += sign * term.weight; });
    }
  };
  apply(pod.preferred_affinity, 1);
  apply(pod.preferred_anti_affinity, -1);
}

bool AffinityCheck::in(const std::set<Domain>& domains, const NodeInfo& node) const {
  return std::any_of(domains.begin(), domains.end(), [&](const Domain& domain) {
    const auto value = node.labels.find(domain.first);
    return value != node.labels.end() && value->second == domain.second;
  });
}

std::string AffinityCheck::misfit(const NodeInfo& node) const {
  for (const PodTerm& term : pod_.affinity) {
    const auto value = node.labels.find(term.topology_key);
    if (value == node.labels.end()) return "node(s) didn't match pod affinity rules";
    // The first pod of a group may run anywhere if it matches its own terms.
    if (!group_exists_ && matches_itself_) continue;
    if (attracting_.count({term.topology_key, value->second}) == 0) return "node(s) didn't match pod affinity rules";
  }
  if (in(repelling_, node)) return "node(s) didn't match pod anti-affinity rules";
  if (in(defended_, node)) return "node(s) didn't satisfy existing pods anti-affinity rules";
  return {};
}

std::int64_t AffinityCheck::score(const NodeInfo& node) const {
  std::int64_t total = 0;
  for (const auto& [domain, weight] : weights_) {
    const auto value = node.labels.find(domain.first);
    if (value != node.labels.end() && value->second == domain.second) total += weight * 100;
  }
  return total;
}

}  // namespace tpuslice::sim
