#include "controllers/raycluster/rules/validator.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/validation_names.h"
#include "controllers/raycluster/rules/cluster_view.h"
#include "controllers/raycluster/rules/group_rules.h"
#include "controllers/raycluster/rules/host_names.h"
#include "controllers/raycluster/rules/ray_rules.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/rules/validator_parts.h"
#include "tpu/catalog.h"
#include "tpu/rules/limits.h"
#include "tpu/rules/tpu_rules.h"

namespace tpuslice::rules {
namespace {

/// "<name>-headless" and the names of the other children must be DNS labels.
constexpr std::size_t kMaxNameLength = 53;
using raycluster::RayClusterSpec;
using raycluster::WorkerGroup;
using Errors = FieldErrors;

void check_upgrade(const ClusterView& cluster, Errors& errors) {
  const Json* type = find_set(cluster.json, {"spec", "upgradeStrategy", "type"});
  if (type == nullptr) return;
  const std::string path = cluster.at("upgradeStrategy.type");
  if (*type != "Recreate" && *type != "None") {
    errors.push_back(not_supported(path, *type, {"None", "Recreate"}, kKubeRayRule));
  }
  const Json* owners = find_set(cluster.json, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return;
  for (const Json& owner : *owners) {
    const std::string kind = string_at(owner, {"kind"});
    if (kind != "RayJob" && kind != "RayService") continue;
    errors.add([&] {
      return forbidden(path,
                       fmt::format("unset it: the cluster is upgraded by {} {}", kind, string_at(owner, {"name"})),
                       kKubeRayRule);
    });
  }
}

void check_upgrade_annotation(const ClusterView& cluster, Errors& errors) {
  const Json* mode = find_set(cluster.json, {"metadata", "annotations", raycluster::kUpgrade});
  if (mode == nullptr) return;
  const std::string path = fmt::format("metadata.annotations[{}]", raycluster::kUpgrade);
  if (*mode != raycluster::kRollingUpgrade) {
    errors.push_back(not_supported(path, *mode, {std::string(raycluster::kRollingUpgrade)}, kOurRule));
  } else if (cluster.spec.recreate) {
    errors.push_back(forbidden(
        path, fmt::format("cannot be combined with {} Recreate", cluster.at("upgradeStrategy.type")), kOurRule));
  }
}

/// Upstream creates no pods of a cluster whose serve service would have no port.
void check_serve_service(const ClusterView& cluster, Errors& errors) {
  if (!cluster.spec.serve_service || has_serve_port(cluster.json)) return;
  errors.push_back(required_value(
      cluster.at("headGroupSpec.template.spec.containers[0].ports"),
      fmt::format("with the annotation {}, one port is named serve, or begins with serve-", raycluster::kServeService),
      kKubeRayRule));
}

/// Fields that the head group and worker groups have in common.
void check_group_spec(const Json& group, const std::string& path, Errors& errors) {
  const Json* containers = find_set(group, {"template", "spec", "containers"});
  if (containers == nullptr || !containers->is_array() || containers->empty()) {
    errors.push_back(required_value(path + ".template.spec.containers",
                                    "a group has at least one container, and the first one runs Ray", kKubeRayRule));
  }
  if (find_set(group, {"rayStartParams", "labels"}) != nullptr) {
    errors.push_back(
        forbidden(path + ".rayStartParams[labels]", fmt::format("use {}.labels instead", path), kKubeRayRule));
  }
  const Json* resources = find_set(group, {"resources"});
  if (resources != nullptr && !resources->empty()) {
    for (const std::string_view name : {"num-cpus", "num-gpus", "memory", "resources"}) {
      if (find_set(group, {"rayStartParams", name}) == nullptr) continue;
      errors.push_back(forbidden(fmt::format("{}.rayStartParams[{}]", path, name),
                                 fmt::format("cannot be combined with {}.resources", path), kKubeRayRule));
    }
  }
  const Json* labels = find_set(group, {"labels"});
  if (labels == nullptr || !labels->is_object()) return;
  for (const auto& [key, value] : labels->items()) {
    const auto refuse = [&](const Json& found, const ErrorMessages& messages) {
      for (const std::string& message : messages) {
        errors.add(
            [&] { return invalid_value(fmt::format("{}.labels[{}]", path, key), found, message, kKubeRayRule); });
      }
    };
    refuse(key, check_label_key(key));
    refuse(value, check_label_value(value.is_string() ? value.get_ref<const std::string&>() : "?"));
  }
}

void check_group_name(const std::string& name, const std::string& path, std::set<std::string>& names, Errors& errors) {
  const std::string name_path = path + ".groupName";
  if (name.empty()) {
    errors.push_back(required_value(name_path, "a worker group has a name", kKubeRayRule));
    return;
  }
  if (!names.insert(name).second) errors.push_back(duplicate_value(name_path, name, kKubeRayRule));
  auto name_errors = check_label_value(name);
  if (name_errors.empty()) name_errors = check_dns1123_subdomain(to_lower(name));  // The names of its pods contain it.
  for (const std::string& error : name_errors) {
    errors.push_back(invalid_value(name_path, name, error, kKubernetesRule));
  }
}

void check_group_counts(const Json& json, const WorkerGroup& group, const std::string& path, Errors& errors) {
  for (const std::string_view field : {"replicas", "minReplicas", "maxReplicas", "numOfHosts"}) {
    check_count(json, field, path, errors);
  }
  if (group.min_replicas > group.max_replicas) {
    errors.push_back(invalid_value(path + ".minReplicas", group.min_replicas,
                                   fmt::format("must be less than or equal to maxReplicas, {}", group.max_replicas),
                                   kKubeRayRule));
  }
}

void check_hosts_limit(const WorkerGroup& group, const std::string& path, Errors& errors) {
  if (group.hosts <= tpu::kMaxSliceHosts) return;
  errors.push_back(invalid_value(path + ".numOfHosts", group.hosts,
                                 fmt::format("must be less than or equal to {}", tpu::kMaxSliceHosts), kOurRule));
}

/// The worker pods of all groups together. Suspended groups count, as they may be resumed.
void check_pods_limit(const ClusterView& cluster, Errors& errors) {
  std::int64_t pods = 0;
  for (std::size_t index = 0; index < cluster.spec.groups.size(); ++index) {
    const WorkerGroup& group = cluster.spec.groups[index];
    const std::int64_t all = pods + std::int64_t{group.bounded_replicas()} * group.hosts;
    if (all > rules::kMaxChildren) {
      errors.push_back(
          invalid_value(cluster.at(fmt::format("workerGroupSpecs[{}].replicas", index)), group.bounded_replicas(),
                        fmt::format("must be no more than {}: with the groups before it, {} worker pods are desired, "
                                    "the maximum of a RayCluster is {}",
                                    (rules::kMaxChildren - pods) / group.hosts, all, rules::kMaxChildren),
                        kOurRule));
      return;
    }
    pods = all;
  }
}

void check_head_ports(const Json& head, const std::string& path, Errors& errors) {
  check_ports_limit(head, {"headService", "spec", "ports"}, path, errors);
  const Json& containers = array_at(head, {"template", "spec", "containers"});
  for (std::size_t index = 0; index < containers.size(); ++index) {
    check_ports_limit(containers[index], {"ports"}, fmt::format("{}.template.spec.containers[{}]", path, index),
                      errors);
  }
}

/// Whether the hosts of the group find each other by name.
bool has_named_hosts(const WorkerGroup& group) {
  return group.pod_template != nullptr && asks_for_tpus(*group.pod_template) && group.hosts > 1;
}

void check_raycluster_object(const Json& cluster, const RayClusterSpec& spec, const Json* old, Errors& errors) {
  check_ray_name(cluster, kMaxNameLength, "services", errors);
  check_cluster({cluster, spec}, old, errors);
}

}  // namespace

Json embedded_cluster(const Json& owner, std::string_view field) {
  const Json* spec = find_set(owner, {"spec", field});
  if (spec == nullptr) return {};
  Json cluster = {{"spec", *spec}};
  Json& metadata = cluster["metadata"];
  for (const char* map : {"annotations", "labels"}) {
    if (const Json* values = find_set(owner, {"metadata", map})) metadata[map] = *values;
  }
  metadata["ownerReferences"] =
      Json::array({Json{{"kind", string_at(owner, {"kind"})}, {"name", string_at(owner, {"metadata", "name"})}}});
  return cluster;
}

bool has_serve_port(const Json& cluster) {
  const Json& ports = array_at(cluster, {"spec", "headGroupSpec", "template", "spec", "containers", "0", "ports"});
  return ports.empty() || std::ranges::any_of(ports, [](const Json& port) {
           const std::string name = string_at(port, {"name"});
           return name == "serve" || name.starts_with("serve-");
         });
}

void check_cluster(const ClusterView& cluster, const Json* old, Errors& errors) {
  const Json* head = find_set(cluster.json, {"spec", "headGroupSpec"});
  if (head == nullptr || !head->is_object()) {
    errors.push_back(required_value(cluster.at("headGroupSpec"), "a RayCluster has a head", kKubeRayRule));
    return;
  }
  check_ray_manager(*cluster.spec.source, old == nullptr ? nullptr : find_set(*old, {"spec"}), cluster.at("managedBy"),
                    errors);
  check_upgrade(cluster, errors);
  check_upgrade_annotation(cluster, errors);
  check_serve_service(cluster, errors);
  check_group_spec(*head, cluster.at("headGroupSpec"), errors);
  check_head_ports(*head, cluster.at("headGroupSpec"), errors);
  check_token_auth(cluster, errors);
  check_fault_tolerance(cluster, old, errors);
  const std::size_t groups = cluster.spec.groups.size();
  if (groups > rules::kMaxGroups) {
    errors.push_back(too_many(cluster.at("workerGroupSpecs"), groups, rules::kMaxGroups, kOurRule));
    return;
  }
  std::set<std::string> names;
  for_each_group(cluster, [&](const Json& json, const WorkerGroup& group, const std::string& path) {
    check_group_name(group.name, path, names, errors);
    check_group_spec(json, path, errors);
    check_group_counts(json, group, path, errors);
    check_hosts_limit(group, path, errors);
  });
  check_autoscaling(cluster, errors);
  check_pods_limit(cluster, errors);
  check_group_slices(cluster, errors);
}

FieldErrors validate_raycluster(const Json& cluster, const Json* old) {
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  FieldCheck check_stored;
  if (old != nullptr) {
    check_stored = [&](Errors& errors) { check_raycluster_object(*old, RayClusterSpec::read(*old), nullptr, errors); };
  }
  return new_errors([&](Errors& errors) { check_raycluster_object(cluster, spec, old, errors); }, check_stored);
}

FieldErrors validate_stored_raycluster(const Typed<RayClusterSpec>& cluster) {
  FieldErrors errors;
  check_raycluster_object(cluster.json(), cluster.spec(), nullptr, errors);
  return errors;
}

std::vector<std::string> warn_raycluster(const Json& cluster) {
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  return warn_cluster({cluster, spec});
}

std::vector<std::string> warn_cluster(const ClusterView& cluster) {
  std::vector<std::string> warnings = warn_autoscaling(cluster);
  for (std::string& warning : warn_token_auth(cluster)) warnings.push_back(std::move(warning));
  for (std::string& warning : warn_fault_tolerance(cluster)) warnings.push_back(std::move(warning));
  for (std::string& warning : warn_batch_scheduling(cluster)) warnings.push_back(std::move(warning));
  for_each_group(cluster, [&](const Json&, const WorkerGroup& group, const std::string& path) {
    const bool has_tpus = group.pod_template != nullptr && asks_for_tpus(*group.pod_template);
    std::string unselected = has_tpus ? warn_unselected_nodes(*group.pod_template, path + ".template") : std::string();
    if (!unselected.empty()) warnings.push_back(std::move(unselected));
    if (group.min_replicas <= group.max_replicas && group.bounded_replicas() != group.replicas) {
      warnings.push_back(fmt::format("{}.replicas: {} is not between minReplicas {} and maxReplicas {}: {} will run",
                                     path, group.replicas, group.min_replicas, group.max_replicas,
                                     group.bounded_replicas()));
    }
    const std::string hostname = raycluster::ray_worker_hostnames(group.name, 0).of(0);
    if (!group.name.empty() && has_named_hosts(group) && hostname != group.name + "-0-0") {
      warnings.push_back(fmt::format("{}.groupName: {} is not valid in a DNS name: the hostnames are {} and so on",
                                     path, group.name, hostname));
    }
  });
  return warnings;
}

}  // namespace tpuslice::rules
