// What is created in the benchmark: RayClusters made of the sample that users are given, and their pods.
#pragma once

#include <string>
#include <vector>

#include "api/types/object.h"

namespace tpuslice::bench {

/// So many RayClusters, each of so many slices of so many hosts, and a head.
struct Shape {
  int clusters = 1;
  int slices = 1;
  int hosts = 1;

  [[nodiscard]] std::size_t pods() const { return static_cast<std::size_t>(clusters * (slices * hosts + 1)); }
  /// "4 x (64 slices x 4 hosts)"
  [[nodiscard]] std::string name() const;
};

/// The sample of deploy/samples with another name, and this many slices. Errors: InvalidArgument for a sample that is
/// not as expected, or a number of hosts that v5p has no slice of.
[[nodiscard]] Result<Json> make_cluster(const Json& sample, const Shape& shape, int index,
                                        const std::string& namespace_name);

/// The RayCluster of the sample. Errors: InvalidArgument.
[[nodiscard]] Result<Json> read_sample();

struct BarePod {
  std::string name;
  std::string slice;  ///< The label; empty for heads.
  std::string text;   ///< JSON.
};

/// The pods that the operator creates for `cluster` (as the server has it), as it sends them.
[[nodiscard]] Result<std::vector<BarePod>> pods_of(const Object& cluster);

}  // namespace tpuslice::bench
