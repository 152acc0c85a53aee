// Kinds: what an API server serves, by the names that kubectl knows.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "api/client/client.h"
#include "api/types/resource_type.h"

namespace tpuslice::e2e {

/// Asks the server once, and again for what it does not find. Not thread-safe.
class Kinds {
 public:
  /// `client` outlives it.
  explicit Kinds(client::Client& client) : client_(client) {}

  /// "ray.io/v1", "RayCluster". Errors: NotFound; those of the server. What it refers to lives as long as this object.
  [[nodiscard]] Result<ResourceType> of_kind(const std::string& api_version, const std::string& kind);
  /// "pods", "pod", "po", "rayclusters.ray.io". Of several, the core group's.
  [[nodiscard]] Result<ResourceType> named(const std::string& word);

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
  std::deque<std::string> texts_;  ///< That the types refer to; they stay.
  std::deque<Entry> entries_;
};

}  // namespace tpuslice::e2e
