#include "tpu/geometry.h"

#include <algorithm>

#include <fmt/format.h>

namespace tpuslice::tpu {
namespace {

constexpr std::int64_t kLiteTorus = 16;  // v5e and v6e: an axis of this length has wrap-around links.
}  // namespace

Result<Bounds> chips_per_host_bounds(std::int64_t chips) {
  switch (chips) {
    case 1:
      return Bounds{1, 1, 1};
    case 2:
      return Bounds{1, 2, 1};
    case 4:
      return Bounds{2, 2, 1};
    case 8:
      return Bounds{2, 4, 1};
    default:
      return Error::invalid_argument("{} chips per container; a container has 1, 2, 4 or 8", chips);
  }
}

Result<Bounds> host_bounds(const Topology& topology, std::int64_t chips) {
  ASSIGN_OR_RETURN(const Bounds host, chips_per_host_bounds(chips));
  Bounds bounds = topology.padded();
  for (std::size_t axis = 0; axis < bounds.size(); ++axis) {
    if (bounds[axis] % host[axis] != 0) {
      return Error::invalid_argument("topology {} cannot be cut into hosts of {} chips (bounds {})",
                                     topology.to_string(), chips, to_string(host));
    }
    bounds[axis] /= host[axis];
  }
  return bounds;
}

std::string topology_wrap(const Accelerator& accelerator, const Topology& topology) {
  const Bounds& bounds = topology.padded();
  if (accelerator.generation == Generation::kV5e || accelerator.generation == Generation::kV6e) {
    return fmt::format("{},{},{}", bounds[0] == kLiteTorus, bounds[1] == kLiteTorus, bounds[2] == kLiteTorus);
  }
  const bool wraps = std::all_of(bounds.begin(), bounds.end(), [](auto length) { return length >= kCubeEdge; });
  return wraps ? "true,true,true" : "false,false,false";
}

Result<std::string> accelerator_type(const Accelerator& accelerator, const Topology& topology) {
  if (accelerator.type_prefix.empty()) {
    return Error::invalid_argument("accelerator {} has no accelerator type", accelerator.label);
  }
  return fmt::format("{}-{}", accelerator.type_prefix, topology.chips() * accelerator.cores_per_chip);
}

Topology effective_topology(const Accelerator& accelerator, const Topology& node, std::string_view annotation) {
  if (annotation.empty()) return node;
  const Result<Topology> part = Topology::parse(annotation);
  const bool usable = part.ok() && check_topology(accelerator, *part).ok() && part->fits_in(node);
  return usable ? *part : node;
}

}  // namespace tpuslice::tpu
