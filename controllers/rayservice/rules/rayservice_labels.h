// Labels, annotations, conditions and reasons of the RayService API that its children and tools rely on.
//
// Those that admission reads as well are in controllers/rayservice/rules/spec.h, those of RayClusters in
// controllers/raycluster/rules/raycluster_labels.h.
#pragma once

#include <string_view>

#include "api/base/clock.h"

namespace tpuslice::rayservice {

/// Held until the RayClusters of a deleted RayService are deleted.
inline constexpr std::string_view kFinalizer = "ray.io/rayservice-finalizer";

// Upstream's annotations of the RayClusters of a RayService.
inline constexpr std::string_view kClusterHash = "ray.io/hash-without-replicas-and-workers-to-delete";
inline constexpr std::string_view kNumberOfGroups = "ray.io/num-worker-groups";
/// The operator and version that computed kClusterHash. Operators do not compare the hashes of others.
inline constexpr std::string_view kClusterHashVersion = "ray.io/kuberay-version";

// Ours.
/// The numbers of replicas that the RayService had when they were last applied to the cluster: ConfigHash::replicas().
inline constexpr std::string_view kReplicas = "tpuslice.dev/replicas";
/// rayClusterConfig.suspend and the generation of the RayService when it was last applied to the cluster: "true.3".
inline constexpr std::string_view kSuspend = "tpuslice.dev/suspend";
/// The Serve configuration that the cluster was given: see ServeRecord.
inline constexpr std::string_view kServeConfig = "tpuslice.dev/serve-config";
/// The configuration that kServeConfig records, as JSON, of a RayService with NewClusterWithIncrementalUpgrade: it is
/// given again with another target_capacity, after serveConfigV2 has changed.
inline constexpr std::string_view kServeConfigBody = "tpuslice.dev/serve-config-body";
/// When a cluster that is no longer used is deleted, RFC 3339.
inline constexpr std::string_view kDeleteAfter = "tpuslice.dev/delete-after";

/// The controller watches the services with this label.
inline constexpr std::string_view kServiceSelector = "ray.io/originated-from-crd=RayService";

// Upstream's conditions.
inline constexpr std::string_view kReady = "Ready";
inline constexpr std::string_view kUpgradeInProgress = "UpgradeInProgress";
inline constexpr std::string_view kRollbackInProgress = "RollbackInProgress";
inline constexpr std::string_view kSuspendingCondition = "Suspending";
inline constexpr std::string_view kSuspendedCondition = "Suspended";
// Reasons of these conditions.
inline constexpr std::string_view kInitializing = "Initializing";
inline constexpr std::string_view kInitializingTimedOut = "InitializingTimeout";
inline constexpr std::string_view kValidationFailed = "ValidationFailed";
/// Ours, of kReady: no pod serves, since the newest RayCluster is suspended.
inline constexpr std::string_view kClusterSuspended = "RayClusterSuspended";

/// Ours: True while the newest cluster has the present rayClusterConfig, or is made from it.
///
/// Reasons: UpToDate; UpgradeDisabled, RollbackInProgress, GatewayAPIMissing, ChildrenPending, NotAccepted,
/// Suspended, InitializingTimeout.
inline constexpr std::string_view kUpToDate = "tpuslice.dev/UpToDate";
/// Ours: True once the newest cluster has accepted the present serveConfigV2, until it has lost its applications.
///
/// Reasons: ServeConfigApplied; HeadNotReady, DashboardPending, DashboardFailing, ConfigPending, ConfigRefused,
/// ApplicationsLost, ConfigOverwritten, RollbackInProgress, NotAccepted, Suspended, InitializingTimeout.
inline constexpr std::string_view kServeConfigApplied = "tpuslice.dev/ServeConfigApplied";
/// Reason of plan::kSlicesPlaced: the slices of a new cluster wait while the old one has its own.
inline constexpr std::string_view kNoRoomForUpgrade = "NoRoomForUpgrade";
/// Reason of plan::kChildrenReady and kUpToDate: the Kubernetes cluster does not serve Gateways and HTTPRoutes.
inline constexpr std::string_view kGatewayApiMissing = "GatewayAPIMissing";

// Reasons of a failed action.
inline constexpr std::string_view kFailedRayCluster = "FailedRayCluster";
inline constexpr std::string_view kFailedService = "FailedService";
inline constexpr std::string_view kFailedGateway = "FailedGateway";
inline constexpr std::string_view kFailedHttpRoute = "FailedHTTPRoute";
inline constexpr std::string_view kFailedServeLabel = "FailedServeLabel";

/// Interval of the requests to Ray's dashboards and proxies.
inline constexpr Duration kPollInterval = std::chrono::seconds(2);

}  // namespace tpuslice::rayservice
