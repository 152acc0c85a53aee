// The earliest of several optional times.
#pragma once

#include <algorithm>
#include <optional>

namespace tpuslice {

/// Sets `when` to `other`, unless it already has an earlier time.
template <typename Time>
void set_earlier(std::optional<Time>& when, Time other) {
  when = std::min(when.value_or(other), other);
}

}  // namespace tpuslice
