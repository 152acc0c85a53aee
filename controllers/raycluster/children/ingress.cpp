#include "controllers/raycluster/children/children.h"

#include <utility>

#include "api/types/resource_type.h"
#include "controllers/raycluster/children/services.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {
namespace {

constexpr const char* kIngressClass = "kubernetes.io/ingress.class";
/// kubectl's own record of what was applied to the cluster.
constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

std::int64_t dashboard_port(const RayClusterSpec& spec) {
  const auto ports = head_ports(spec);
  const auto found = ports.find("dashboard");
  return found == ports.end() ? kDashboardPort : found->second;
}

Json rule(const RayClusterSpec& spec, const Json& options) {
  const Json backend = {{"service", {{"name", head_service_name(spec)}, {"port", {{"number", dashboard_port(spec)}}}}}};
  const Json path = {{"path", string_at(options, {"path"}, "/")},
                     {"pathType", string_at(options, {"pathType"}, "Prefix")},
                     {"backend", backend}};
  Json out = {{"http", {{"paths", Json::array({path})}}}};
  if (const std::string host = string_at(options, {"host"}); !host.empty()) out["host"] = host;
  return out;
}

}  // namespace

Object build_ingress(const RayClusterSpec& spec) {
  const Json options = spec.head.ingress_options == nullptr ? Json::object() : *spec.head.ingress_options;
  Json metadata = child_metadata(spec, ingress_name(spec));
  set_label(metadata["labels"], kIdentifier, identifier(spec, kHeadNode));
  Json annotations = spec.annotations;
  Json content = {{"rules", Json::array({rule(spec, options)})}};
  if (const Json& tls = array_at(options, {"tls"}); !tls.empty()) content["tls"] = tls;
  if (annotations.contains(kIngressClass)) content["ingressClassName"] = annotations[kIngressClass];
  annotations.erase(kIngressClass);
  annotations.erase(kLastApplied);
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  return Object(Json{{"apiVersion", kIngresses.api_version()},
                     {"kind", kIngresses.kind},
                     {"metadata", std::move(metadata)},
                     {"spec", std::move(content)}});
}

void keep_ingress_class(const ObjectView& live, Object& desired) {
  Json& spec = desired.mutable_json()["spec"];
  if (spec.contains("ingressClassName")) return;
  const std::string found = string_at(live.object().json(), {"spec", "ingressClassName"});
  if (!found.empty()) spec["ingressClassName"] = found;
}

}  // namespace tpuslice::raycluster
