#include "controllers/raycluster/rules/ray_version.h"

#include <array>
#include <cstddef>

#include "api/base/strings.h"

namespace tpuslice::raycluster {

std::optional<RayVersion> parse_ray_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  text = text.substr(0, text.find_first_of("-+"));
  std::array<int, 3> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t dot = text.find('.');
    const std::optional<int> part = parse_integer<int>(text.substr(0, dot));
    if (!part) return std::nullopt;
    parts.at(i) = *part;
    if (dot == std::string_view::npos) {
      if (i == 0) return std::nullopt;
      break;
    }
    text.remove_prefix(dot + 1);
  }
  return RayVersion{parts[0], parts[1], parts[2]};
}

}  // namespace tpuslice::raycluster
