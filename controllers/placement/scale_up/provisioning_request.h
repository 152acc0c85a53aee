// Provisioning requests: ask the cluster autoscaler for all nodes of a slice at once, where an administrator has chosen
// a provisioning class. Each refers to a PodTemplate that describes the slice's hosts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/views.h"
#include "controllers/placement/metadata_view.h"
#include "controllers/placement/scale_up/scale_up.h"

namespace tpuslice::placement {

inline constexpr ResourceType kProvisioningRequests{"autoscaling.x-k8s.io", "v1", "ProvisioningRequest",
                                                    "provisioningrequests"};

/// Classes that the cluster autoscaler and GKE document.
inline constexpr std::string_view kCheckCapacityClass = "check-capacity.autoscaling.x-k8s.io";
inline constexpr std::string_view kAtomicScaleUpClass = "best-effort-atomic-scale-up.autoscaling.x-k8s.io";
inline constexpr std::string_view kQueuedProvisioningClass = "queued-provisioning.gke.io";

struct ProvisioningRequestView {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::optional<Timestamp> created;
  std::optional<Timestamp> deletion;
  std::optional<ControllerRef> controller;
  StringMap annotations;
  std::string provisioning_class;
  bool provisioned = false;  ///< Condition Provisioned. Of kAtomicScaleUpClass, the nodes may not exist yet.
  std::string ended;         ///< The condition of Failed, BookingExpired and CapacityRevoked that is true; empty: none.
  std::string message;       ///< Message of that condition, or of Provisioned.
  std::optional<Timestamp> changed;  ///< When that condition became true; absent if none is, or it does not say.

  static Result<ProvisioningRequestView> decode(std::string_view json, const KeptKeys* keep = nullptr);
  friend bool operator==(const ProvisioningRequestView&, const ProvisioningRequestView&) = default;
};

/// The requests of one accelerator and their templates.
struct ProvisioningState {
  std::vector<std::shared_ptr<const ProvisioningRequestView>> requests;
  std::vector<std::shared_ptr<const MetadataView>> templates;
};

/// The accelerator of a request or template of ours, which is the key of its reconciler; empty for others.
[[nodiscard]] std::string accelerator_of_request(const StringMap& annotations);

/// Whether nodes may still be added for the request; if it is provisioned, until it counts as unsuccessful.
[[nodiscard]] bool may_bring_nodes(const ProvisioningRequestView& request, Timestamp now,
                                   const ScaleUpOptions& options);
/// The slice for which a request or template asks, from its annotations.
[[nodiscard]] ObjectKey slice_of_request(const StringMap& annotations);

/// The plan_scale_up() of provisioning requests. A slice gets a template, then a request.
///
/// - Requests of slices that no longer wait are deleted, with their templates, and those of another class.
/// - A request counts as unsuccessful ScaleUpOptions::timeout after its creation, or after it was provisioned, if its
///   slice still waits.
/// - A request that ended is kept, while its slice waits, until ScaleUpOptions::timeout after its end; then it is
///   deleted, and made again. So no slice asks again sooner, whatever the provisioner answers.
///
/// `accelerator`: value of the node label.
[[nodiscard]] ScaleUpPlan plan_provisioning_requests(const std::vector<WaitingSlice>& waiting,
                                                     const ProvisioningState& state, const std::string& accelerator,
                                                     Timestamp now, const ScaleUpOptions& options);

}  // namespace tpuslice::placement
