// Discovery: what kubectl asks first: which groups, versions and resources there are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/sim/resources.h"

namespace tpuslice::sim {

struct DiscoveryDocument {
  Json body;
  std::string content_type = "application/json";
};

/// The answer to GET of a path ("api", "apis/apps", "apis/apps/v1"); nothing where there is none. `aggregated` asks for
/// the whole of it in one document.
[[nodiscard]] std::optional<DiscoveryDocument> discovery_json(const Resources& resources,
                                                              const std::vector<std::string>& path, bool aggregated);

/// GET /version.
[[nodiscard]] Json version_json(const std::string& git_version);

/// The verbs of a resource.
[[nodiscard]] std::vector<std::string> verbs_of(const Resource& resource);

/// "v2" before "v1" before "v2beta1" before "v1alpha1" before what is no version.
[[nodiscard]] bool version_before(const std::string& a, const std::string& b);

}  // namespace tpuslice::sim
