// Names of a RayCluster's children.
//
// Pod names are derived, never random: a POST whose reply was lost can be repeated without creating a second pod. Names
// end in a hash of the cluster's UID and of the pod's group, replica, host and attempt, so that clusters and groups
// whose names are cut to the same prefix do not collide.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// Pod names with a higher attempt were not created by this operator.
inline constexpr int kMaxAttempt = 1'000'000;

/// Identifies a worker pod of a group.
struct WorkerIndex {
  int replica = 0;
  int host = 0;
  /// 0, or one more than that of the pods that still existed when this one was created; at most kMaxAttempt.
  int attempt = 0;
  friend bool operator==(const WorkerIndex&, const WorkerIndex&) = default;
};

/// headService.metadata.name, else "<cluster>-head-svc".
[[nodiscard]] std::string head_service_name(const RayClusterSpec& spec);
/// "<cluster>-serve-svc"
[[nodiscard]] std::string serve_service_name(const RayClusterSpec& spec);
/// "<cluster>-head-ingress", cut as autoscaler_name().
[[nodiscard]] std::string ingress_name(const RayClusterSpec& spec);
/// "<service>.<namespace>.svc.<domain>": where workers find the head.
[[nodiscard]] std::string head_service_fqdn(const RayClusterSpec& spec, std::string_view cluster_domain);

/// "<cluster>-head-<hash>"; at most 63 characters.
[[nodiscard]] std::string head_pod_name(const RayClusterSpec& spec);
/// "<cluster>-<group>-worker-<replica>-<host>-<hash>", lower case; the part before the replica is cut to fit 63. After
/// the first attempt its number comes before the hash.
[[nodiscard]] std::string worker_pod_name(const RayClusterSpec& spec, std::string_view group, WorkerIndex index);
/// The inverse of worker_pod_name() for pods of the group; nullopt for other names.
[[nodiscard]] std::optional<WorkerIndex> parse_worker_pod_name(const RayClusterSpec& spec, std::string_view group,
                                                               std::string_view name);
/// Value of the label ray.io/worker-group-replica-name: "<group>-<hash>"; at most 63 characters.
[[nodiscard]] std::string replica_name(const RayClusterSpec& spec, std::string_view group, int replica);
/// Name of the autoscaler's Role and RoleBinding, and of its ServiceAccount unless the head template names one: the
/// last 50 characters of the cluster's name; if the first of these is not a letter, it is replaced by r.
[[nodiscard]] std::string autoscaler_name(const RayClusterSpec& spec);
/// own_service_account(), else autoscaler_name().
[[nodiscard]] std::string head_service_account(const RayClusterSpec& spec);
/// serviceAccountName of the head template, or its deprecated alias serviceAccount; empty without.
[[nodiscard]] std::string own_service_account(const RayClusterSpec& spec);
/// Name of the Secret with the cluster's token: the last 50 characters of the cluster's name; if the first of these is
/// not a letter, it is replaced by r.
[[nodiscard]] std::string auth_secret_name(const RayClusterSpec& spec);
/// "<cluster>-redis-cleanup"; the last 63 characters of it.
[[nodiscard]] std::string redis_cleanup_job_name(const RayClusterSpec& spec);
/// Value of the label ray.io/identifier: "<cluster>-<node type>"; at most 63 characters.
[[nodiscard]] std::string identifier(const RayClusterSpec& spec, std::string_view node_type);

}  // namespace tpuslice::raycluster
