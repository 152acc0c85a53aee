// RestMapper: the resource types that an API server serves, by kind and by the names that kubectl accepts.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "api/client/client.h"
#include "api/types/resource_type.h"

namespace tpuslice::e2e {

/// Discovers them once, and again when one is not found. Not thread-safe.
class RestMapper {
 public:
  /// `client` outlives it.
  explicit RestMapper(client::Client& client) : client_(client) {}

  /// For "ray.io/v1" and "RayCluster". Errors: NotFound; those of the server. The result refers to this object.
  [[nodiscard]] Result<ResourceType> for_kind(const std::string& api_version, const std::string& kind);
  /// For "pods", "pod", "po" or "rayclusters.ray.io". The core group precedes the others.
  [[nodiscard]] Result<ResourceType> for_resource(const std::string& name);

 private:
  struct Entry {
    ResourceType type;
    std::vector<std::string> names;
  };

  Status load();
  Status load_group(const std::string& group_version);
  [[nodiscard]] Result<Json> get(const std::string& path);
  std::string_view keep(std::string text);

  client::Client& client_;
  std::deque<std::string> texts_;  ///< The types refer to them.
  std::deque<Entry> entries_;
};

}  // namespace tpuslice::e2e
