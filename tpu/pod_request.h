// How many chips a pod asks for, container by container.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::tpu {

/// A container of spec.containers that asks for google.com/tpu.
struct TpuContainer {
  std::size_t position = 0;  ///< In spec.containers.
  std::string name;
  std::int64_t chips = 0;
};

/// The TPU containers of a pod spec in order. Limits count before requests: for an extended resource they are equal
/// when both are there. Init containers do not count; they hold chips only until the workers start.
///
/// Errors: InvalidArgument naming the field, for a quantity that is no whole number from 0 to 1000000.
[[nodiscard]] Result<std::vector<TpuContainer>> tpu_containers(const Json& pod_spec);

[[nodiscard]] std::int64_t total_chips(const std::vector<TpuContainer>& containers);

}  // namespace tpuslice::tpu
