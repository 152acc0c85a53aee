// The services of a RayService: clients reach the head and the Serve proxies of the active cluster by them.
#pragma once

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

/// The cluster that the live serve service selects; empty without a serve service of ours.
[[nodiscard]] std::string selected_cluster(const RayServiceState& state);

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

}  // namespace tpuslice::rayservice
