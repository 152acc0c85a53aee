// Labels, annotations and values of the RayCluster API that controller and admission share.
#pragma once

#include <string_view>

namespace tpuslice::raycluster {

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
/// Environment variables: of the Ray container, whether Ray runs version 2 of its autoscaler;
inline constexpr std::string_view kAutoscalerV2Variable = "RAY_enable_autoscaler_v2";
/// and of the autoscaler, the command that starts it, for users who replace its arguments.
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

}  // namespace tpuslice::raycluster
