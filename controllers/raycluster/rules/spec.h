// RayClusterSpec: fields of a RayCluster that controller and admission read, with the CRD's defaults. Pod templates
// stay JSON.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "api/types/object.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {

/// What head and worker groups have in common.
struct GroupSpec {
  StringMap ray_start_params;
  StringMap resources;                 ///< Ray resources that replace those derived from the container.
  StringMap labels;                    ///< Ray labels: pod labels and --labels.
  const Json* pod_template = nullptr;  ///< Borrowed from the cluster; null if absent.

  /// Name of container 0, the Ray container; empty without one.
  [[nodiscard]] std::string ray_container() const;
};

struct HeadGroup : GroupSpec {
  std::string service_type;
  const Json* service = nullptr;  ///< headService, borrowed; null if absent.
  bool ingress = false;
  const Json* ingress_options = nullptr;  ///< Borrowed; null if absent.

  /// Port of the GCS: rayStartParams.port, or the default.
  [[nodiscard]] std::string port() const;
};

struct WorkerGroup : GroupSpec {
  std::string name;
  std::int32_t replicas = 0;  ///< The number as written; minReplicas if absent.
  std::int32_t min_replicas = 0;
  std::int32_t max_replicas = std::numeric_limits<std::int32_t>::max();
  std::int32_t hosts = 1;
  bool suspended = false;
  std::vector<std::string> workers_to_delete;

  /// `replicas` bounded by minimum and maximum.
  [[nodiscard]] std::int32_t bounded_replicas() const;
  /// Replicas to run: none while suspended.
  [[nodiscard]] std::int32_t desired_replicas() const { return suspended ? 0 : bounded_replicas(); }
};

/// Ray's autoscaler, which runs beside the head and sets the replicas of worker groups.
struct Autoscaling {
  bool enabled = false;           ///< spec.enableInTreeAutoscaling
  std::string version;            ///< autoscalerOptions.version; empty: the Ray version decides.
  const Json* options = nullptr;  ///< spec.autoscalerOptions, borrowed; null if absent.

  /// Version v2 is asked for explicitly: its workers are not restarted.
  [[nodiscard]] bool explicit_v2() const { return enabled && version == "v2"; }
};

/// Authentication between Ray's processes and its clients: spec.authOptions.
struct Authentication {
  bool token = false;             ///< mode: token
  bool service_accounts = false;  ///< enableK8sTokenAuth: tokens of service accounts, which the API server checks.
  std::string secret;             ///< secretName: holds the token; empty: the operator creates one.

  [[nodiscard]] bool creates_secret() const { return token && !service_accounts && secret.empty(); }
};

/// The state of the GCS is kept in Redis, so that a new head continues with it: spec.gcsFaultToleranceOptions, or the
/// annotation kFaultTolerance and the user's environment variables.
struct FaultTolerance {
  bool enabled = false;
  std::string backend;            ///< Empty: redis.
  std::string storage_namespace;  ///< Prefix of the keys in Redis; the cluster's UID unless set.
  const Json* options = nullptr;  ///< gcsFaultToleranceOptions, borrowed; null if absent.

  [[nodiscard]] bool uses_redis() const { return enabled && (backend.empty() || backend == kRedis); }
};

/// Borrows from the document it was read from, which must outlive it.
struct RayClusterSpec {
  ObjectKey key;
  std::string uid;
  ControllerRef owner;  ///< For children.
  HeadGroup head;
  /// The groups as in spec.workerGroupSpecs; an element that is not an object has the defaults.
  std::vector<WorkerGroup> groups;
  bool suspend = false;
  Autoscaling autoscaling;
  Authentication auth;
  FaultTolerance fault_tolerance;
  std::string managed_by;
  std::string ray_version;
  std::string creator;    ///< Kind that created this cluster: RayCluster, RayJob or RayService.
  StringMap annotations;  ///< Annotations of the cluster itself.
  StringMap head_service_annotations;
  bool serve_service = false;    ///< Annotation kServeService.
  bool recreate = false;         ///< upgradeStrategy.type: Recreate
  bool rolling = false;          ///< Annotation kUpgrade: kRollingUpgrade.
  const Json* source = nullptr;  ///< .spec, borrowed; null if absent.

  [[nodiscard]] const WorkerGroup* group(std::string_view name) const;
  /// True if the cluster is one of a RayService.
  [[nodiscard]] bool serves() const { return creator == kRayServiceCrd; }
  /// True if spec.managedBy assigns the cluster to another controller.
  [[nodiscard]] bool managed_by_other() const;

  /// Never fails: members of the wrong type count as absent; validation refuses them.
  static RayClusterSpec read(const Json& cluster);
  static RayClusterSpec read(const Object& cluster) { return read(cluster.json()); }
  // It would borrow from a temporary.
  static RayClusterSpec read(const Json&&) = delete;
  static RayClusterSpec read(const Object&&) = delete;
};

}  // namespace tpuslice::raycluster
