// RayClusterSpec: a typed view of a RayCluster, defaults filled in. Pod templates stay JSON.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "api/types/views.h"

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

  /// Port of the GCS, as rayStartParams or the default say.
  [[nodiscard]] std::string port() const;
};

struct WorkerGroup : GroupSpec {
  std::string name;
  std::int32_t replicas = 0;
  std::int32_t min_replicas = 0;
  std::int32_t max_replicas = std::numeric_limits<std::int32_t>::max();
  std::int32_t hosts = 1;
  bool suspended = false;
  std::vector<std::string> workers_to_delete;

  /// Replicas to run: `replicas` kept between minimum and maximum, none while suspended.
  [[nodiscard]] std::int32_t desired_replicas() const;
};

/// Borrows from the Object it was read from, which must outlive it.
struct RayClusterSpec {
  ObjectKey key;
  std::string uid;
  ControllerRef owner;  ///< For children.
  HeadGroup head;
  std::vector<WorkerGroup> groups;
  bool suspend = false;
  std::string managed_by;
  std::string ray_version;
  std::string creator;  ///< Kind that made this cluster: RayCluster, RayJob or RayService.
  StringMap head_service_annotations;

  [[nodiscard]] const WorkerGroup* group(std::string_view name) const;
  /// True if another controller has been given this cluster (spec.managedBy).
  [[nodiscard]] bool managed_elsewhere() const;

  /// Never fails: members of the wrong type read as absent, which validation refuses before.
  static RayClusterSpec read(const Object& cluster);
};

}  // namespace tpuslice::raycluster
