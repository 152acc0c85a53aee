// The chips that the containers of a pod ask for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::tpu {

/// TPU containers of a pod: no host has more than 8 chips.
inline constexpr std::size_t kMaxTpuContainers = 8;

/// A container that asks for google.com/tpu.
struct TpuContainer {
  std::size_t position = 0;  ///< In its list.
  std::string name;
  std::int64_t chips = 0;
};

/// The TPU containers of a list of a pod spec, "containers" or "initContainers", in order. Limits are read before
/// requests, as the two are equal for extended resources.
///
/// Errors: InvalidArgument naming the field, for a quantity that is not a whole number from 0 to 1000000, and for more
/// than kMaxTpuContainers.
[[nodiscard]] Result<std::vector<TpuContainer>> tpu_containers(const Json& pod_spec,
                                                               std::string_view list = "containers");

[[nodiscard]] std::int64_t total_chips(const std::vector<TpuContainer>& containers);

}  // namespace tpuslice::tpu
