#include "cmd/tpu-slice-sim/cluster/scheduling/scheduling_info.h"

#include <algorithm>

#include "api/types/quantity.h"

namespace tpuslice::sim {

namespace {

std::int64_t integer_at(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = find_path(json, path);
  return found != nullptr && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

Amounts amounts_of(const Json* resources) {
  Amounts out;
  if (resources == nullptr || !resources->is_object()) return out;
  for (const auto& [name, value] : resources->items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    // The API server accepts only quantities.
    if (const auto amount = Quantity::parse(text)) out[name] = amount->milli_value();
  }
  return out;
}

void raise_to(Amounts& to, const Amounts& amounts) {
  for (const auto& [name, amount] : amounts) to[name] = std::max(to[name], amount);
}

/// A missing request defaults to the limit.
Amounts container_requests(const Json& container) {
  Amounts out = amounts_of(find_path(container, {"resources", "limits"}));
  for (const auto& [name, amount] : amounts_of(find_path(container, {"resources", "requests"}))) out[name] = amount;
  return out;
}

Amounts pod_requests(const Json& pod) {
  Amounts running;
  for (const Json& container : array_at(pod, {"spec", "containers"})) add(running, container_requests(container));
  Amounts sidecars;
  Amounts highest;
  for (const Json& container : array_at(pod, {"spec", "initContainers"})) {
    Amounts here = container_requests(container);
    if (string_at(container, {"restartPolicy"}) == "Always") {
      add(sidecars, here);
      here = sidecars;
    } else {
      add(here, sidecars);
    }
    raise_to(highest, here);
  }
  add(running, sidecars);
  raise_to(running, highest);
  add(running, amounts_of(find_path(pod, {"spec", "overhead"})));
  running["pods"] = 1000;
  return running;
}

PodTerm pod_term(const Json& term, const ObjectKey& pod, const StringMap& labels) {
  PodTerm out;
  out.topology_key = string_at(term, {"topologyKey"});
  for (const Json& name : array_at(term, {"namespaces"})) {
    if (name.is_string()) out.namespaces.insert(name.get<std::string>());
  }
  const Json* namespace_selector = find_path(term, {"namespaceSelector"});
  if (namespace_selector != nullptr && namespace_selector->is_object()) {
    out.namespace_selector = label_selector(*namespace_selector);
  }
  if (out.namespaces.empty() && !out.namespace_selector) out.namespaces.insert(pod.namespace_name);
  const Json* selector = find_path(term, {"labelSelector"});
  if (selector == nullptr || !selector->is_object()) return out;
  out.selector = label_selector(*selector);
  const auto add_keys = [&](std::string_view field, const char* op) {
    for (const Json& key : array_at(term, {field})) {
      const auto label = key.is_string() ? labels.find(key.get<std::string>()) : labels.end();
      if (label != labels.end()) out.selector->push_back({label->first, op, {label->second}});
    }
  };
  add_keys("matchLabelKeys", "In");
  add_keys("mismatchLabelKeys", "NotIn");
  return out;
}

std::vector<PodTerm> required_terms(const Json& pod, std::string_view kind, const PodInfo& info) {
  std::vector<PodTerm> out;
  for (const Json& term : array_at(pod, {"spec", "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"})) {
    out.push_back(pod_term(term, info.key, info.labels));
  }
  return out;
}

std::vector<PodTerm> preferred_terms(const Json& pod, std::string_view kind, const PodInfo& info) {
  std::vector<PodTerm> out;
  for (const Json& entry :
       array_at(pod, {"spec", "affinity", kind, "preferredDuringSchedulingIgnoredDuringExecution"})) {
    const Json* term = find_path(entry, {"podAffinityTerm"});
    if (term == nullptr) continue;
    out.push_back(pod_term(*term, info.key, info.labels));
    out.back().weight = static_cast<int>(integer_at(entry, {"weight"}));
  }
  return out;
}

NodeTerm node_term(const Json& term) {
  return {expressions(array_at(term, {"matchExpressions"})), expressions(array_at(term, {"matchFields"})), 0};
}

void decode_node_affinity(const Json& pod, PodInfo& info) {
  const Json* required = find_path(
      pod, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  if (required != nullptr && required->is_array()) {
    info.node_affinity.emplace();
    for (const Json& term : *required) info.node_affinity->push_back(node_term(term));
  }
  for (const Json& entry :
       array_at(pod, {"spec", "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution"})) {
    const Json* preference = find_path(entry, {"preference"});
    if (preference == nullptr) continue;
    info.preferred_nodes.push_back(node_term(*preference));
    info.preferred_nodes.back().weight = static_cast<int>(integer_at(entry, {"weight"}));
  }
}

}  // namespace

void add(Amounts& to, const Amounts& amounts) {
  for (const auto& [name, amount] : amounts) to[name] += amount;
}

void subtract(Amounts& from, const Amounts& amounts) {
  for (const auto& [name, amount] : amounts) from[name] -= amount;
}

std::vector<Toleration> tolerations_of(const Json& pod) {
  std::vector<Toleration> out;
  for (const Json& entry : array_at(pod, {"spec", "tolerations"})) {
    Toleration toleration{string_at(entry, {"key"}), string_at(entry, {"operator"}, "Equal"),
                          string_at(entry, {"value"}), string_at(entry, {"effect"}), std::nullopt};
    if (find_path(entry, {"tolerationSeconds"}) != nullptr) {
      toleration.seconds = integer_at(entry, {"tolerationSeconds"});
    }
    out.push_back(std::move(toleration));
  }
  return out;
}

std::vector<Taint> taints_of(const Json& node) {
  std::vector<Taint> out;
  for (const Json& entry : array_at(node, {"spec", "taints"})) {
    out.push_back({string_at(entry, {"key"}), string_at(entry, {"value"}), string_at(entry, {"effect"})});
  }
  return out;
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (toleration.op == "Exists") return toleration.key.empty() || toleration.key == taint.key;
  return toleration.key == taint.key && toleration.value == taint.value;
}

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const Toleration& toleration) { return tolerates(toleration, taint); });
}

PodInfo PodInfo::decode(const Json& pod) {
  PodInfo info;
  info.key = {string_at(pod, {"metadata", "namespace"}), string_at(pod, {"metadata", "name"})};
  info.uid = string_at(pod, {"metadata", "uid"});
  info.labels = string_map(find_path(pod, {"metadata", "labels"}));
  info.node_name = string_at(pod, {"spec", "nodeName"});
  info.priority = integer_at(pod, {"spec", "priority"});
  info.gated = !array_at(pod, {"spec", "schedulingGates"}).empty();
  info.terminating = find_path(pod, {"metadata", "deletionTimestamp"}) != nullptr;
  const std::string phase = string_at(pod, {"status", "phase"});
  info.finished = phase == "Succeeded" || phase == "Failed";
  info.requests = pod_requests(pod);
  info.tolerations = tolerations_of(pod);
  info.node_selector = string_map(find_path(pod, {"spec", "nodeSelector"}));
  decode_node_affinity(pod, info);
  info.affinity = required_terms(pod, "podAffinity", info);
  info.anti_affinity = required_terms(pod, "podAntiAffinity", info);
  info.preferred_affinity = preferred_terms(pod, "podAffinity", info);
  info.preferred_anti_affinity = preferred_terms(pod, "podAntiAffinity", info);
  return info;
}

void NodeInfo::decode(const Json& node) {
  name = string_at(node, {"metadata", "name"});
  labels = string_map(find_path(node, {"metadata", "labels"}));
  taints = taints_of(node);
  const Json* cordoned = find_path(node, {"spec", "unschedulable"});
  unschedulable = cordoned != nullptr && cordoned->is_boolean() && cordoned->get<bool>();
  ready = false;
  for (const Json& condition : array_at(node, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) == "Ready") ready = string_at(condition, {"status"}) == "True";
  }
  allocatable = amounts_of(find_path(node, {"status", "allocatable"}));
}

}  // namespace tpuslice::sim
