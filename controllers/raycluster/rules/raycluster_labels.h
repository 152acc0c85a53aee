// Labels, annotations, ports and reasons of the RayCluster API that its children and tools rely on.
#pragma once

#include <string>
#include <string_view>

#include "api/types/json.h"
#include "api/types/resource_type.h"

namespace tpuslice::raycluster {

inline constexpr std::string_view kRayCluster = "ray.io/cluster";
inline constexpr std::string_view kRayNodeType = "ray.io/node-type";
inline constexpr std::string_view kRayGroup = "ray.io/group";
inline constexpr std::string_view kRayReplicaName = "ray.io/worker-group-replica-name";
inline constexpr std::string_view kRayReplicaIndex = "ray.io/worker-group-replica-index";
inline constexpr std::string_view kRayHostIndex = "ray.io/replica-host-index";

/// Values of spec.managedBy; the first is the default.
inline constexpr std::string_view kKubeRayManager = "ray.io/kuberay-operator";
inline constexpr std::string_view kMultiKueueManager = "kueue.x-k8s.io/multikueue";

inline constexpr std::string_view kOriginatedFromCrd = "ray.io/originated-from-crd";
/// Value of kOriginatedFromCrd: the clusters of RayServices.
inline constexpr std::string_view kRayServiceCrd = "RayService";
inline constexpr std::string_view kFaultTolerance = "ray.io/ft-enabled";
/// Annotation of a fault-tolerant cluster, unless its options say so: prefix of its keys in Redis.
inline constexpr std::string_view kStorageNamespace = "ray.io/external-storage-namespace";
inline constexpr std::string_view kServeService = "ray.io/enable-serve-service";

/// Ours: annotation of a RayCluster: how pods are replaced when the template of their group changes.
inline constexpr std::string_view kUpgrade = "tpuslice.dev/upgrade";
/// One worker replica at a time.
inline constexpr std::string_view kRollingUpgrade = "rolling";

/// Name of the container of Ray's autoscaler in the head pod.
inline constexpr std::string_view kAutoscalerContainer = "autoscaler";
/// Environment variable of the Ray container: whether Ray runs version 2 of its autoscaler.
inline constexpr std::string_view kAutoscalerV2Variable = "RAY_enable_autoscaler_v2";
/// Environment variable of the autoscaler: the command that starts it, for users who replace its arguments.
inline constexpr std::string_view kAutoscalerCommandVariable = "KUBERAY_GEN_AUTOSCALER_START_CMD";

/// Values of gcsFaultToleranceOptions.backend; the first is the default.
inline constexpr std::string_view kRedis = "redis";
inline constexpr std::string_view kRocksDb = "rocksdb";

// Environment variables of Ray that users set themselves, or let the operator set.
inline constexpr std::string_view kRedisAddressVariable = "RAY_REDIS_ADDRESS";
inline constexpr std::string_view kRedisUsernameVariable = "REDIS_USERNAME";
inline constexpr std::string_view kRedisPasswordVariable = "REDIS_PASSWORD";

/// Default port of the GCS.
inline constexpr int kGcsPort = 6379;
inline constexpr std::string_view kIsRayNode = "ray.io/is-ray-node";
inline constexpr std::string_view kIdentifier = "ray.io/identifier";
inline constexpr std::string_view kCreatedBy = "app.kubernetes.io/created-by";
inline constexpr std::string_view kHeadlessService = "ray.io/headless-worker-svc";
inline constexpr std::string_view kOriginatedFromCrName = "ray.io/originated-from-cr-name";
inline constexpr std::string_view kServe = "ray.io/serve";
inline constexpr std::string_view kOverwriteCommand = "ray.io/overwrite-container-cmd";

/// Annotation of a RayCluster of a RayJob whose submitter is a container of the head pod: once all pods were ready, a
/// head that is lost is not replaced, as a new one would submit the job again, and no workers are created without it.
inline constexpr std::string_view kDisableHeadRestart = "ray.io/disable-provisioned-head-restart";

/// Init container of workers.
inline constexpr std::string_view kWaitGcsReady = "wait-gcs-ready";

inline constexpr std::string_view kHeadNode = "head";
inline constexpr std::string_view kWorkerNode = "worker";
inline constexpr std::string_view kHeadGroup = "headgroup";
inline constexpr std::string_view kApplication = "kuberay";
inline constexpr std::string_view kOperator = "kuberay-operator";
/// The KubeRay release that pods and status are compatible with; reported to Ray's usage statistics.
inline constexpr std::string_view kCompatibleRelease = "v1.7.0";

inline constexpr int kDashboardPort = 8265;
inline constexpr int kClientPort = 10001;
inline constexpr int kServePort = 8000;
inline constexpr int kMetricsPort = 8080;
inline constexpr int kAgentPort = 52365;

/// Ours: True while all services exist, are owned by the cluster, and have not drifted.
///
/// Reasons: ServicesReady; ServicesPending, ServiceConflict, ServeServiceConflict, FailedService, NotAccepted.
inline constexpr std::string_view kServicesReady = "tpuslice.dev/ServicesReady";
/// Reason of kServicesReady, and of plan::kChildrenReady of a RayService: a service of another owner has one of our
/// names.
inline constexpr std::string_view kServiceConflict = "ServiceConflict";

/// Upstream's conditions.
inline constexpr std::string_view kHeadPodReady = "HeadPodReady";
inline constexpr std::string_view kProvisioned = "RayClusterProvisioned";
inline constexpr std::string_view kReplicaFailure = "ReplicaFailure";

// Reasons of a failed action; upstream shows them in the condition ReplicaFailure.
inline constexpr std::string_view kFailedDeleteAllPods = "FailedDeleteAllPods";
inline constexpr std::string_view kFailedDeleteHeadPod = "FailedDeleteHeadPod";
inline constexpr std::string_view kFailedCreateHeadPod = "FailedCreateHeadPod";
inline constexpr std::string_view kFailedDeleteWorkerPod = "FailedDeleteWorkerPod";
inline constexpr std::string_view kFailedCreateWorkerPod = "FailedCreateWorkerPod";
/// Ours: upstream does not adopt.
inline constexpr std::string_view kFailedAdoptPods = "FailedAdoptPods";
/// Ours: the annotation with the spec of a pod could not be added.
inline constexpr std::string_view kFailedUpdatePod = "FailedUpdatePod";
/// Ours: upstream reports a failed service only in its log.
inline constexpr std::string_view kFailedService = "FailedService";
/// Ours: the Secret with the cluster's token could not be created.
inline constexpr std::string_view kFailedSecret = "FailedSecret";

inline constexpr ResourceType kRayClusters{"ray.io", "v1", "RayCluster", "rayclusters"};

// The controller watches the objects with these labels, which all its children have.
inline constexpr std::string_view kPodSelector = "ray.io/node-type in (head,worker)";
/// Jobs that delete the state of a cluster from Redis.
inline constexpr std::string_view kCleanupJobSelector = "ray.io/node-type=redis-cleanup";
inline constexpr std::string_view kServiceSelector = "ray.io/cluster";
/// Upstream's labels of the other children: other roles and service accounts are not kept in memory.
inline constexpr std::string_view kChildSelector = "ray.io/cluster,app.kubernetes.io/created-by=kuberay-operator";

/// Sets one of an object's labels, annotations or selector terms.
inline void set_label(Json& labels, std::string_view name, std::string_view value) {
  labels[std::string(name)] = std::string(value);
}

}  // namespace tpuslice::raycluster
