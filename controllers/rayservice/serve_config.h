// The Serve configuration of a RayService, and what a cluster has been given of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::rayservice {

struct ServeConfig {
  Json json;         ///< Body of the request; without serveConfigV2 a configuration without applications.
  std::string hash;  ///< Of it.
  std::vector<std::string> applications;  ///< Names, as the dashboard reports them.
};
/// `yaml`: spec.serveConfigV2. Errors: InvalidArgument unless it is a mapping.
[[nodiscard]] Result<ServeConfig> parse_serve_config(std::string_view yaml);

/// Annotation kServeConfig of a RayCluster, so that an operator that is restarted knows it:
///
///   <hash>.<attempt>        accepted
///   <hash>.<attempt>.sent   written before it is sent: without an answer it may have taken effect
struct ServeRecord {
  std::string hash;          ///< Empty: nothing was sent.
  std::int64_t attempt = 0;  ///< Counts what was sent to this cluster.
  bool accepted = false;

  /// What does not have this form counts as nothing.
  static ServeRecord parse(const std::string& annotation);
  [[nodiscard]] std::string to_string() const;
};

}  // namespace tpuslice::rayservice
