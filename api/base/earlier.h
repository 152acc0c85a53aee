#pragma once

#include <algorithm>
#include <optional>

namespace tpuslice {

/// `when` becomes `other` if it is absent or later.
template <typename Time>
void set_earlier(std::optional<Time>& when, Time other) {
  when = std::min(when.value_or(other), other);
}

}  // namespace tpuslice
