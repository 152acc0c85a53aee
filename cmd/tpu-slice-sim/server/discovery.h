// Discovery: the groups, versions and resources that are served.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/resources/resources.h"

namespace tpuslice::sim {

struct DiscoveryDocument {
  Json body;
  std::string content_type = "application/json";
};

/// The document at a path ("api", "apis/apps", "apis/apps/v1"), if there is one. `aggregated`: everything in one
/// document.
[[nodiscard]] std::optional<DiscoveryDocument> discovery_json(const Resources& resources,
                                                              const std::vector<std::string>& path, bool aggregated);

/// GET /version.
[[nodiscard]] Json version_json(const std::string& git_version);

/// The verbs of a resource.
[[nodiscard]] std::vector<std::string> verbs_of(const Resource& resource);

/// Order of versions: "v2", "v1", "v2beta1", "v1alpha1", then other names.
[[nodiscard]] bool version_before(const std::string& a, const std::string& b);

}  // namespace tpuslice::sim
