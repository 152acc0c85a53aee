// The Ray version that a cluster says it runs, in spec.rayVersion.
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace tpuslice::raycluster {

struct RayVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;
  friend auto operator<=>(const RayVersion&, const RayVersion&) = default;
};

/// Parses "2.53.0", "v2.54" or "2.53.0-py312": numbers up to the first suffix. Nothing for other texts, such as
/// "nightly".
[[nodiscard]] std::optional<RayVersion> parse_ray_version(std::string_view text);

}  // namespace tpuslice::raycluster
