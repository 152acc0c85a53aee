#include "controllers/raycluster/raycluster_metrics.h"

#include <chrono>
#include <optional>
#include <string>

#include "api/types/conditions.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {
namespace {

/// What the metrics say of one cluster that was read whole.
struct Facts {
  const ObjectView* cluster;
  bool provisioned = false;
  std::optional<double> seconds;  ///< From its creation until it was provisioned.
};

Facts facts_of(const ObjectView& cluster) {
  Facts out{&cluster};
  const Object object = cluster.object_without_spec();
  const Json* condition = find_condition(array_at(object.json(), {"status", "conditions"}), kProvisioned);
  if (condition == nullptr || string_at(*condition, {"status"}) != "True") return out;
  out.provisioned = true;
  const auto created = parse_rfc3339(string_at(object.json(), {"metadata", "creationTimestamp"}));
  const auto since = parse_rfc3339(string_at(*condition, {"lastTransitionTime"}));
  if (created && since) out.seconds = std::chrono::duration<double>(*since - *created).count();
  return out;
}

}  // namespace

// Source of names, labels and values: ray_cluster_metrics.go of KubeRay v1.7.0.
void write_metrics(const std::vector<std::shared_ptr<const ObjectView>>& clusters, SeriesWriter& out) {
  std::vector<Facts> all;
  all.reserve(clusters.size());
  for (const auto& cluster : clusters) {
    if (!cluster->minimal) all.push_back(facts_of(*cluster));
  }
  out.family("kuberay_cluster_condition_provisioned",
             "1, with the label condition: whether all pods of the RayCluster have been ready.");
  for (const auto& [cluster, provisioned, seconds] : all) {
    out.sample({{"condition", provisioned ? "true" : "false"},
                {"name", cluster->key.name},
                {"namespace", cluster->key.namespace_name},
                {"uid", cluster->uid}},
               1);
  }
  out.family("kuberay_cluster_info", "1, with the kind of the object that the RayCluster was created for.");
  for (const auto& cluster : clusters) {
    const std::string& origin = value_of(cluster->labels, kOriginatedFromCrd);
    out.sample({{"name", cluster->key.name},
                {"namespace", cluster->key.namespace_name},
                {"owner_kind", cluster->labels.contains(kOriginatedFromCrd) ? origin : "None"},
                {"uid", cluster->uid}},
               1);
  }
  out.family("kuberay_cluster_provisioned_duration_seconds",
             "Seconds from the creation of the RayCluster until all its pods were ready.");
  for (const auto& [cluster, provisioned, seconds] : all) {
    if (!seconds) continue;
    out.sample({{"name", cluster->key.name}, {"namespace", cluster->key.namespace_name}, {"uid", cluster->uid}},
               *seconds);
  }
}

}  // namespace tpuslice::raycluster
