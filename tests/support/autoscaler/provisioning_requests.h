// ProvisioningRequests: the autoscaler's side of autoscaling.x-k8s.io/v1, for two classes:
//
//   check-capacity.autoscaling.x-k8s.io               Provisioned: the pods fit on nodes that exist now
//   best-effort-atomic-scale-up.autoscaling.x-k8s.io  Provisioned: they do, or the groups for all of them are requested
//
// The condition Accepted comes first. A request that cannot be provisioned gets Provisioned=False and is tried again
// after a growing time; with the parameter noRetry "true", or if its PodTemplate does not exist, it gets Failed=True.
// For ten minutes its nodes are kept for pods with the annotation kConsumeRequest, by this autoscaler only:
// kube-scheduler does not know it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/client/client.h"
#include "tests/support/autoscaler/observed_cluster.h"
#include "tests/support/autoscaler/scale_up_simulation.h"

namespace tpuslice::testing {

inline constexpr ResourceType kProvisioningRequests{"autoscaling.x-k8s.io", "v1", "ProvisioningRequest",
                                                    "provisioningrequests"};
inline constexpr ResourceType kPodTemplates{"", "v1", "PodTemplate", "podtemplates"};

/// A CustomResourceDefinition with the fields that this class reads and writes.
[[nodiscard]] Json provisioning_request_crd();

struct ProvisioningRequestOptions {
  Duration retry = std::chrono::minutes(1);  ///< After the first attempt; doubles, at most ten times this.
  Duration booking = std::chrono::minutes(10);
};

class ProvisioningRequests {
 public:
  ProvisioningRequests(client::Reader& reader, client::Writer& writer, const Clock& clock,
                       ProvisioningRequestOptions options)
      : reader_(reader), writer_(writer), clock_(clock), options_(options) {}

  /// Reads the requests, and places the pods of those that are provisioned and not yet consumed.
  Status place_booked(ScaleUpSimulation& simulation, const ObservedCluster& cluster, Instant now);
  /// Handles the others, after all pending pods were placed.
  Status handle_new(ScaleUpSimulation& simulation, const ObservedCluster& cluster, Instant now);

 private:
  struct Attempts {
    int count = 0;
    Instant next = {};
  };

  Status handle(const Object& request, ScaleUpSimulation& simulation, Instant now);
  [[nodiscard]] Result<std::vector<sim::PodInfo>> pods_of(const Object& request);
  Status set_condition(const Object& request, const std::string& type, bool status, const std::string& reason,
                       const std::string& message);

  client::Reader& reader_;
  client::Writer& writer_;
  const Clock& clock_;
  const ProvisioningRequestOptions options_;
  std::vector<Object> requests_;              ///< Of this loop, the oldest first.
  std::map<std::string, Attempts> attempts_;  ///< By uid.
};

}  // namespace tpuslice::testing
