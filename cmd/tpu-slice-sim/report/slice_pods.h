// SlicePod: what the timeline and the verdict read of a pod of a slice.
#pragma once

#include <optional>
#include <string>

#include "api/types/json.h"

namespace tpuslice {

struct SlicePod {
  std::string slice;  ///< "tpu-group-0"; with its namespace unless that is `default`.
  int hosts = 0;      ///< Number of hosts of the slice.
};

/// Nothing for a pod that is not a host of a slice.
[[nodiscard]] std::optional<SlicePod> read_slice_pod(const Json& pod);

/// "train", or "ml/train" outside of namespace `default`.
[[nodiscard]] std::string short_key(const Json& object);

}  // namespace tpuslice
