#include "controllers/rayservice/cluster_services.h"

#include <utility>

#include "controllers/raycluster/children/services.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::rayservice {
namespace {

using raycluster::set_label;

Object build_cluster_serve(const Cluster& cluster) {
  Json labels = Json::object();
  set_label(labels, raycluster::kOriginatedFromCrName, cluster.name());
  set_label(labels, raycluster::kOriginatedFromCrd, raycluster::kRayServiceCrd);
  set_label(labels, raycluster::kServe, cluster.name() + "-serve");
  Json selector = Json::object();
  set_label(selector, raycluster::kRayCluster, cluster.name());
  set_label(selector, raycluster::kServe, "true");
  Json spec = {{"selector", std::move(selector)}, {"ports", raycluster::serve_ports(cluster.spec)}};
  const std::string& type = cluster.spec.head.service_type;
  if (!type.empty()) spec["type"] = type;
  return Object({{"apiVersion", "v1"},
                 {"kind", "Service"},
                 {"metadata",
                  {{"name", cluster_serve_service_name(cluster)},
                   {"namespace", cluster.spec.key.namespace_name},
                   {"labels", std::move(labels)},
                   {"ownerReferences", Json::array({cluster.object.as_controller().to_json()})}}},
                 {"spec", std::move(spec)}});
}

}  // namespace

std::string cluster_serve_service_name(const std::string& cluster) { return cluster + "-serve-svc"; }

std::string cluster_serve_service_name(const Cluster& cluster) { return cluster_serve_service_name(cluster.name()); }

std::vector<Service> decide_cluster_services(const RayServiceState& state, const ClusterChoice& choice,
                                             const Cluster* active, const Split& traffic, const Options& options) {
  std::vector<Service> out;
  if (active != nullptr) out.push_back(decide_head_service(state, *active, options));
  for (const Cluster* cluster : {choice.active, choice.pending}) {
    if (cluster == nullptr || cluster->annotation(raycluster::kServeService) == "true") continue;
    Object serve = build_cluster_serve(*cluster);
    if (array_at(serve.json(), {"spec", "ports"}).empty()) continue;
    out.push_back(decide_service(state, std::move(serve)));
  }
  const Cluster* main = active;
  if (active == choice.active && choice.pending != nullptr && traffic.pending > traffic.active) main = choice.pending;
  if (main != nullptr && owns_serve_service(state)) {
    if (std::optional<Service> serve = decide_serve_service(state, *main)) out.push_back(*std::move(serve));
  }
  return out;
}

}  // namespace tpuslice::rayservice
