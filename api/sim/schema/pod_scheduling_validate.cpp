#include <set>

#include "api/sim/schema/builtin_checks.h"

namespace tpuslice::sim {
namespace {

const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

void check_tolerations(Problems& problems, const FieldPath& path, const Json& tolerations) {
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const FieldPath at = path.item(i);
    const Json& toleration = tolerations[i];
    const std::string key = string_at(toleration, {"key"});
    const std::string op = string_at(toleration, {"operator"}, "Equal");
    const std::string value = string_at(toleration, {"value"});
    if (!key.empty()) check_name(problems, at.member("key"), key, check_label_key(key));
    if (key.empty() && op != "Exists") {
      problems.invalid(at.member("operator"), op,
                       "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
    }
    if (op == "Exists" && !value.empty()) {
      problems.invalid(at.member("operator"), op, "value must be empty when `operator` is 'Exists'");
    } else if (op == "Equal" || op.empty()) {
      check_name(problems, at.member("operator"), value, check_label_value(value));
    } else if (op != "Exists") {
      problems.unsupported(at.member("operator"), op, {"Equal", "Exists"});
    }
    const std::string effect = string_at(toleration, {"effect"});
    if (toleration.contains("tolerationSeconds") && effect != "NoExecute") {
      problems.invalid(at.member("effect"), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (!effect.empty()) {
      check_choice(problems, at, toleration, "effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
  }
}

void check_node_requirement(Problems& problems, const FieldPath& path, const Json& requirement, bool field) {
  const std::string key = string_at(requirement, {"key"});
  const std::string op = string_at(requirement, {"operator"});
  const std::size_t values = list_at(requirement, "values").size();
  if (field && key != "metadata.name") problems.invalid(path.member("key"), key, "not a valid field selector key");
  if (!field) check_name(problems, path.member("key"), key, check_label_key(key));
  if (op == "In" || op == "NotIn") {
    if (values == 0) problems.required(path.member("values"), "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (values != 0) {
      problems.forbidden(path.member("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (op == "Gt" || op == "Lt") {
    if (values != 1) {
      problems.required(path.member("values"), "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    problems.invalid(path.member("operator"), op, "not a valid selector operator");
  }
}

void check_node_term(Problems& problems, const FieldPath& path, const Json& term) {
  for (const char* name : {"matchExpressions", "matchFields"}) {
    const Json& list = list_at(term, name);
    const FieldPath at = path.member(name);
    for (std::size_t i = 0; i < list.size(); ++i) {
      check_node_requirement(problems, at.item(i), list[i], std::string_view(name) == "matchFields");
    }
  }
}

void check_weight(Problems& problems, const FieldPath& path, const Json& preferred) {
  const Json* weight = member(preferred, "weight");
  if (weight == nullptr || *weight < Json(1) || *weight > Json(100)) {
    problems.invalid(path.member("weight"), weight == nullptr ? Json(0) : *weight, "must be in the range 1-100");
  }
}

void check_node_affinity(Problems& problems, const FieldPath& path, const Json& affinity) {
  const FieldPath required = path.member("requiredDuringSchedulingIgnoredDuringExecution");
  if (const Json* selector = member(affinity, "requiredDuringSchedulingIgnoredDuringExecution"); selector != nullptr) {
    const Json& terms = list_at(*selector, "nodeSelectorTerms");
    const FieldPath list = required.member("nodeSelectorTerms");
    if (terms.empty()) problems.required(list, "must have at least one node selector term");
    for (std::size_t i = 0; i < terms.size(); ++i) check_node_term(problems, list.item(i), terms[i]);
  }
  const Json& preferred = list_at(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  const FieldPath list = path.member("preferredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    check_weight(problems, list.item(i), preferred[i]);
    check_node_term(problems, list.item(i).member("preference"), map_at(preferred[i], "preference"));
  }
}

void check_pod_term(Problems& problems, const FieldPath& path, const Json& term) {
  const std::string key = string_at(term, {"topologyKey"});
  const FieldPath topology = path.member("topologyKey");
  if (key.empty()) problems.required(topology, "can not be empty");
  check_name(problems, topology, key, check_label_key(key));
  for (const char* name : {"labelSelector", "namespaceSelector"}) {
    check_label_selector(problems, path.member(name), map_at(term, name));
  }
  const Json& namespaces = list_at(term, "namespaces");
  const FieldPath list = path.member("namespaces");
  for (std::size_t i = 0; i < namespaces.size(); ++i) {
    const std::string name = namespaces[i].get<std::string>();
    check_name(problems, list.item(i), name, check_dns1123_label(name));
  }
}

void check_pod_affinity(Problems& problems, const FieldPath& path, const Json& affinity) {
  const Json& required = list_at(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
  const FieldPath list = path.member("requiredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < required.size(); ++i) check_pod_term(problems, list.item(i), required[i]);
  const Json& preferred = list_at(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  const FieldPath weighted = path.member("preferredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    check_weight(problems, weighted.item(i), preferred[i]);
    check_pod_term(problems, weighted.item(i).member("podAffinityTerm"), map_at(preferred[i], "podAffinityTerm"));
  }
}

void check_spread(Problems& problems, const FieldPath& path, const Json& constraints) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const FieldPath at = path.item(i);
    if (constraints[i].at("maxSkew") <= Json(0)) {
      problems.invalid(at.member("maxSkew"), constraints[i]["maxSkew"], "must be greater than zero");
    }
    const std::string key = string_at(constraints[i], {"topologyKey"});
    if (key.empty()) problems.required(at.member("topologyKey"), "can not be empty");
    check_choice(problems, at, constraints[i], "whenUnsatisfiable", {"DoNotSchedule", "ScheduleAnyway"});
    const std::string pair = fmt::format("{{{}, {}}}", key, string_at(constraints[i], {"whenUnsatisfiable"}));
    if (!seen.insert(pair).second) problems.duplicate(at.member("{topologyKey, whenUnsatisfiable}"), pair);
  }
}

void check_gates(Problems& problems, const FieldPath& path, const Json& spec) {
  const Json& gates = list_at(spec, "schedulingGates");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string name = string_at(gates[i], {"name"});
    check_name(problems, path.item(i), name, check_label_key(name));
    if (!seen.insert(name).second) problems.duplicate(path.item(i), name);
  }
}

}  // namespace

void check_pod_scheduling(Problems& problems, const FieldPath& path, const Json& spec) {
  check_tolerations(problems, path.member("tolerations"), list_at(spec, "tolerations"));
  const FieldPath selector = path.member("nodeSelector");
  for (const auto& [key, value] : map_at(spec, "nodeSelector").items()) {
    check_name(problems, selector, key, check_label_key(key));
    check_name(problems, selector, value.get<std::string>(), check_label_value(value.get<std::string>()));
  }
  const Json& affinity = map_at(spec, "affinity");
  const FieldPath affinity_path = path.member("affinity");
  check_node_affinity(problems, affinity_path.member("nodeAffinity"), map_at(affinity, "nodeAffinity"));
  for (const char* name : {"podAffinity", "podAntiAffinity"}) {
    check_pod_affinity(problems, affinity_path.member(name), map_at(affinity, name));
  }
  check_spread(problems, path.member("topologySpreadConstraints"), list_at(spec, "topologySpreadConstraints"));
  check_gates(problems, path.member("schedulingGates"), spec);
}

}  // namespace tpuslice::sim
