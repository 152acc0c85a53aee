// Manifests of deploy/ that every simulated cluster starts with; the build generates the source from those files.
#pragma once

#include <string_view>
#include <vector>

namespace tpuslice {

struct Asset {
  std::string_view path;  ///< In the repository.
  std::string_view text;
};

[[nodiscard]] const std::vector<Asset>& assets();

}  // namespace tpuslice
