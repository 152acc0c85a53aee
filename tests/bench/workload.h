// The workloads of the benchmark, derived from deploy/samples, and the children that the operator creates for them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/object.h"
#include "api/types/resource_type.h"

namespace tpuslice::bench {

enum class Kind : std::uint8_t { kRayCluster, kJobSet, kLeaderWorkerSet };

inline constexpr std::array kKinds = {Kind::kRayCluster, Kind::kJobSet, Kind::kLeaderWorkerSet};

[[nodiscard]] std::string_view name_of(Kind kind);
[[nodiscard]] const ResourceType& type_of(Kind kind);

/// Numbers of objects, of slices for each object, and of hosts for each slice. A RayCluster also has a head. A slice of
/// a LeaderWorkerSet is a group whose leader is a host.
struct Shape {
  int objects = 1;
  int slices = 1;
  int hosts = 1;
  Kind kind = Kind::kRayCluster;
  std::string restart_at = {};  ///< Annotation tpuslice.dev/restart-at of JobSets; empty: not set.

  [[nodiscard]] std::size_t pods() const {
    return static_cast<std::size_t>(objects * (slices * hosts + (kind == Kind::kRayCluster ? 1 : 0)));
  }
  /// "4 x (64 slices x 4 hosts)"
  [[nodiscard]] std::string name() const;
};

/// Of a v5p slice: these exist in all sizes, with four chips per host. Errors: InvalidArgument if there is none.
[[nodiscard]] Result<std::string> topology_of(int hosts);

/// The object of deploy/samples. Errors: InvalidArgument.
[[nodiscard]] Result<Json> read_sample(Kind kind);

/// The sample with another name and shape. Errors: InvalidArgument for a sample without expected fields or a number of
/// hosts without a topology.
[[nodiscard]] Result<Json> make_object(const Json& sample, const Shape& shape, int index,
                                       const std::string& namespace_name);

struct BarePod {
  std::string name;
  std::string slice;  ///< The label; empty for heads.
  std::string text;   ///< JSON.
};

struct BareCluster {
  std::vector<std::string> services;  ///< JSON.
  std::vector<BarePod> pods;
};

/// The bodies of the services and pods that the operator creates for `cluster`, a RayCluster read from the server.
[[nodiscard]] Result<BareCluster> children_of(const Object& cluster);

struct BareJobs {
  std::vector<std::string> services;  ///< JSON, as the following.
  std::vector<std::string> jobs;
  std::vector<std::string> names;  ///< Of the Jobs.
};

/// Adds the bodies of the headless service and the Jobs that the operator creates for `owner`, a JobSet read from the
/// server, with (`gangs`) or without the slice controllers.
Status add_jobs_of(const Object& owner, bool gangs, BareJobs& out);

struct BareSets {
  std::vector<std::string> services;  ///< JSON, as the following.
  std::vector<std::string> sets;      ///< StatefulSets of leaders and of workers.
};

/// Adds the bodies of the headless service and the StatefulSets that the operator creates for `owner`, a
/// LeaderWorkerSet read from the server. Worker sets are owned by `owner`, since their leaders do not exist yet.
Status add_sets_of(const Object& owner, BareSets& out);

}  // namespace tpuslice::bench
