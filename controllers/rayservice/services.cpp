#include "controllers/rayservice/services.h"

#include <algorithm>
#include <utility>

#include "controllers/raycluster/children/services.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::rayservice {
namespace {

using raycluster::set_label;

Json metadata_of(const RayServiceSpec& spec, std::string name, Json labels) {
  return {{"name", std::move(name)},
          {"namespace", spec.key.namespace_name},
          {"labels", std::move(labels)},
          {"ownerReferences", Json::array({spec.owner.to_json()})}};
}

Json common_labels(const RayServiceSpec& spec) {
  Json labels = Json::object();
  set_label(labels, raycluster::kOriginatedFromCrName, spec.key.name);
  set_label(labels, raycluster::kOriginatedFromCrd, raycluster::kRayServiceCrd);
  return labels;
}

Object build_head(const RayServiceSpec& spec, const Cluster& cluster, const Options& options) {
  raycluster::Options cluster_options;
  cluster_options.head_cluster_ip = options.head_cluster_ip;
  Json service = raycluster::build_head_service(cluster.spec, cluster_options).json();
  raycluster::RayClusterSpec named;
  named.key = spec.key;
  Json labels = common_labels(spec);
  set_label(labels, raycluster::kRayNodeType, raycluster::kHeadNode);
  set_label(labels, raycluster::kIdentifier, raycluster::identifier(named, raycluster::kHeadNode));
  Json metadata = metadata_of(spec, head_service_name(spec), std::move(labels));
  if (const Json* annotations = find_set(service, {"metadata", "annotations"}); annotations != nullptr) {
    metadata["annotations"] = *annotations;
  }
  service["metadata"] = std::move(metadata);
  return Object(std::move(service));
}

/// A port that the user describes keeps that description; without ports of the head, the user's are the ports.
Json merge_ports(Json ports, const Json& declared) {
  if (ports.empty()) return declared;
  for (Json& port : ports) {
    const auto own = std::ranges::find_if(
        declared, [&](const Json& each) { return string_at(each, {"name"}) == string_at(port, {"name"}); });
    if (own != declared.end()) port = *own;
  }
  return ports;
}

Object build_serve(const RayServiceSpec& spec, const Cluster& cluster) {
  Json labels = common_labels(spec);
  set_label(labels, raycluster::kServe, spec.key.name + "-serve");
  Json selector = Json::object();
  set_label(selector, raycluster::kRayCluster, cluster.name());
  set_label(selector, raycluster::kServe, "true");
  Json service = {{"apiVersion", "v1"}, {"kind", "Service"}, {"spec", Json::object()}};
  Json annotations = Json::object();
  if (spec.serve_service != nullptr) {
    Json own_labels = string_map_at(*spec.serve_service, {"metadata", "labels"});
    own_labels.update(labels);
    labels = std::move(own_labels);
    annotations = string_map_at(*spec.serve_service, {"metadata", "annotations"});
    if (const Json* own = find_set(*spec.serve_service, {"spec"}); own != nullptr && own->is_object()) {
      service["spec"] = *own;
    }
  }
  service["spec"]["selector"] = std::move(selector);
  service["spec"]["ports"] = merge_ports(raycluster::serve_ports(cluster.spec), array_at(service, {"spec", "ports"}));
  const std::string& type = cluster.spec.head.service_type;
  if (!service["spec"].contains("type") && !type.empty()) service["spec"]["type"] = type;
  service["metadata"] = metadata_of(spec, serve_service_name(spec), std::move(labels));
  if (!annotations.empty()) service["metadata"]["annotations"] = std::move(annotations);
  return Object(std::move(service));
}

const ObjectView* find_service(const RayServiceObserved& seen, const std::string& name) {
  const auto found = std::ranges::find_if(seen.services, [&](const ObjectPtr& each) { return each->key.name == name; });
  return found == seen.services.end() ? nullptr : found->get();
}

const ObjectView* own_service(const RayServiceState& state, const std::string& name) {
  const ObjectView* live = find_service(state.seen, name);
  return live != nullptr && live->controller && live->controller->uid == state.spec.uid ? live : nullptr;
}

template <typename Decide>
Service decide(const RayServiceState& state, Object desired, const Decide& decide_by_live) {
  const ObjectView* live = find_service(state.seen, desired.name());
  Service out{std::move(desired), {}, live == nullptr ? std::string() : live->uid};
  out.decision = decide_by_live(out.desired.json(), live);
  if (out.decision.kind == plan::ChildDecision::Kind::kConflict) {
    out.decision.conflict +=
        fmt::format(", but RayService {} needs that name: delete or rename one of them", state.spec.key.to_string());
  }
  return out;
}

}  // namespace

std::string head_service_name(const RayServiceSpec& spec) { return spec.key.name + "-head-svc"; }

std::string serve_service_name(const RayServiceSpec& spec) {
  const std::string own =
      spec.serve_service == nullptr ? std::string() : string_at(*spec.serve_service, {"metadata", "name"});
  return own.empty() ? spec.key.name + "-serve-svc" : own;
}

std::vector<ObjectKey> service_keys(const RayServiceSpec& spec) {
  return {{spec.key.namespace_name, head_service_name(spec)}, {spec.key.namespace_name, serve_service_name(spec)}};
}

std::string selected_cluster(const RayServiceState& state) {
  const ObjectView* live =
      own_service(state, state.spec.incremental ? head_service_name(state.spec) : serve_service_name(state.spec));
  if (live == nullptr) return {};
  return string_at(live->object().json(), {"spec", "selector", raycluster::kRayCluster});
}

bool owns_serve_service(const RayServiceState& state) {
  return own_service(state, serve_service_name(state.spec)) != nullptr;
}

Service decide_head_service(const RayServiceState& state, const Cluster& cluster, const Options& options) {
  return decide(state, build_head(state.spec, cluster, options), plan::decide_service);
}

std::optional<Service> decide_serve_service(const RayServiceState& state, const Cluster& cluster) {
  Object serve = build_serve(state.spec, cluster);
  if (array_at(serve.json(), {"spec", "ports"}).empty()) return std::nullopt;
  return decide(state, std::move(serve), plan::decide_described_service);
}

Service decide_service(const RayServiceState& state, Object desired) {
  return decide(state, std::move(desired), plan::decide_service);
}

std::vector<Service> decide_services(const RayServiceState& state, const Cluster& cluster, const Options& options) {
  std::vector<Service> out{decide_head_service(state, cluster, options)};
  if (std::optional<Service> serve = decide_serve_service(state, cluster)) out.push_back(*std::move(serve));
  return out;
}

}  // namespace tpuslice::rayservice
