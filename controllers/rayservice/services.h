// The services of a RayService: clients reach the head and the Serve proxies of the active cluster by them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/plan/service.h"
#include "controllers/rayservice/rayservice_options.h"
#include "controllers/rayservice/rayservice_state.h"

namespace tpuslice::rayservice {

/// "<service>-head-svc"
[[nodiscard]] std::string head_service_name(const RayServiceSpec& spec);
/// serveService.metadata.name, else "<service>-serve-svc".
[[nodiscard]] std::string serve_service_name(const RayServiceSpec& spec);
[[nodiscard]] std::vector<ObjectKey> service_keys(const RayServiceSpec& spec);

/// The cluster that the live service which is switched selects: the serve service, or the head service with
/// NewClusterWithIncrementalUpgrade. Empty without one of ours.
[[nodiscard]] std::string selected_cluster(const RayServiceState& state);
/// There is a serve service, and it is ours.
[[nodiscard]] bool owns_serve_service(const RayServiceState& state);

struct Service {
  Object desired;
  plan::ChildDecision decision;
  std::string uid;  ///< UID of the live service; empty without.
};
/// Head service and serve service, so that they select `cluster`. The head service is that of the cluster under another
/// name; the serve service selects pods by the label ray.io/serve and has the ports of the head named serve or serve-*,
/// or those of spec.serveService with the same names.
[[nodiscard]] std::vector<Service> decide_services(const RayServiceState& state, const Cluster& cluster,
                                                   const Options& options);
[[nodiscard]] Service decide_head_service(const RayServiceState& state, const Cluster& cluster, const Options& options);
/// Nothing if it would have no ports, which the API server refuses.
[[nodiscard]] std::optional<Service> decide_serve_service(const RayServiceState& state, const Cluster& cluster);
/// Decides about a service of our own making.
[[nodiscard]] Service decide_service(const RayServiceState& state, Object desired);

}  // namespace tpuslice::rayservice
