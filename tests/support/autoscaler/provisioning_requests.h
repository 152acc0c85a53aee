// ProvisioningRequests: the autoscaler's side of autoscaling.x-k8s.io/v1, for three classes:
//
//   check-capacity.autoscaling.x-k8s.io               Provisioned: the pods fit on nodes that exist now
//   best-effort-atomic-scale-up.autoscaling.x-k8s.io  Provisioned: they do, or the groups for all of them are requested
//   queued-provisioning.gke.io                        Provisioned: the nodes of a queued group, brought for it, accept
//                                                     pods
//
// The condition Accepted comes first; that of the queued class when a group waits for capacity, for any time. A request
// of the other classes that cannot be provisioned gets Provisioned=False and is tried again after a growing time. With
// the parameter noRetry "true", without its PodTemplate, or after a week, it gets Failed=True. For ten minutes its
// nodes are kept for pods with the annotation kConsumeRequest, by this autoscaler only: kube-scheduler does not know
// it. A request of the queued class whose nodes are gone gets CapacityRevoked=True (the real one: after
// maxRunDuration), and one that is deleted before they came gives its group back.
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
/// On nodes that were brought for a request of the queued class; its detail ResizeRequestName.
inline constexpr const char* kResizeRequestLabel = "autoscaling.gke.io/provisioning-request";

/// A CustomResourceDefinition with the fields that this class reads and writes.
[[nodiscard]] Json provisioning_request_crd();

struct ProvisioningRequestOptions {
  Duration retry = std::chrono::minutes(1);  ///< After the first attempt; doubles, at most ten times this.
  Duration booking = std::chrono::minutes(10);
  Duration give_up = std::chrono::hours(7 * 24);  ///< After the creation.
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
  /// Of the request for which the queued group was scaled up; empty if there is none.
  [[nodiscard]] std::string resize_request_of(const std::string& group) const;

 private:
  struct Attempts {
    int count = 0;
    Instant next = {};
    std::string group = {};           ///< Of the queued class: scaled up for it.
    std::string resize_request = {};  ///< Its name.
  };

  Status handle(const Object& request, ScaleUpSimulation& simulation, Instant now);
  Status handle_queued(const Object& request, ScaleUpSimulation& simulation);
  Status revoke_lost(const Object& request, const ObservedCluster& cluster);
  [[nodiscard]] Result<std::vector<sim::PodInfo>> pods_of(const Object& request);
  Status set_condition(const Object& request, const std::string& type, bool status, const std::string& reason,
                       const std::string& message, const Json& details = {});

  client::Reader& reader_;
  client::Writer& writer_;
  const Clock& clock_;
  const ProvisioningRequestOptions options_;
  std::vector<Object> requests_;              ///< Of this loop, the oldest first.
  std::map<std::string, Attempts> attempts_;  ///< By uid.
};

}  // namespace tpuslice::testing
