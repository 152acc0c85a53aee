// What is created in the benchmark: workloads made of the samples that users are given, and what the operator makes of
// them.
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

/// So many objects, each of so many slices of so many hosts; a RayCluster has a head, too. A slice of a LeaderWorkerSet
/// is a group whose leader is a host.
struct Shape {
  int objects = 1;
  int slices = 1;
  int hosts = 1;
  Kind kind = Kind::kRayCluster;
  std::string restart_at = {};  ///< Annotation tpuslice.dev/restart-at of JobSets; empty: none.

  [[nodiscard]] std::size_t pods() const {
    return static_cast<std::size_t>(objects * (slices * hosts + (kind == Kind::kRayCluster ? 1 : 0)));
  }
  /// "4 x (64 slices x 4 hosts)"
  [[nodiscard]] std::string name() const;
};

/// The object of deploy/samples. Errors: InvalidArgument.
[[nodiscard]] Result<Json> read_sample(Kind kind);

/// The sample with another name, and this many slices. Errors: InvalidArgument for a sample that is not as expected, or
/// a number of hosts that v5p has no slice of.
[[nodiscard]] Result<Json> make_object(const Json& sample, const Shape& shape, int index,
                                       const std::string& namespace_name);

struct BarePod {
  std::string name;
  std::string slice;  ///< The label; empty for heads.
  std::string text;   ///< JSON.
};

/// The pods that the operator creates for `cluster` (a RayCluster as the server has it), as it sends them.
[[nodiscard]] Result<std::vector<BarePod>> pods_of(const Object& cluster);

struct BareJobs {
  std::vector<std::string> services;  ///< JSON, as the following.
  std::vector<std::string> jobs;
  std::vector<std::string> names;  ///< Of the Jobs.
};

/// The headless service and the Jobs that the operator, with (`gangs`) or without its slice controller, creates for
/// `owner` (a JobSet as the server has it), as it sends them; added to `out`.
Status add_jobs_of(const Object& owner, bool gangs, BareJobs& out);

struct BareSets {
  std::vector<std::string> services;  ///< JSON, as the following.
  std::vector<std::string> sets;      ///< StatefulSets of leaders and of workers.
};

/// The headless service and the StatefulSets that the operator creates for `owner` (a LeaderWorkerSet as the server has
/// it), as it sends them, but that worker sets belong to `owner`, too: their leaders are not there yet. Added to `out`.
Status add_sets_of(const Object& owner, BareSets& out);

}  // namespace tpuslice::bench
