// The Serve configuration of a RayService, and what a cluster has been given of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::rayservice {

struct ServeConfig {
  Json json;         ///< Body of the request; without serveConfigV2 a configuration without applications.
  std::string hash;  ///< Hash of the configuration.
  std::vector<std::string> applications;                  ///< Names, as the dashboard reports them.
  std::map<std::string, std::string> application_hashes;  ///< ray::application_hash() of each, by name.
};
/// `yaml`: spec.serveConfigV2. Errors: InvalidArgument unless it is a mapping.
[[nodiscard]] Result<ServeConfig> parse_serve_config(std::string_view yaml);

/// The configuration in this document.
[[nodiscard]] ServeConfig serve_config_of(Json json);
/// `config` for this percentage of the replicas; without a number, for what `config` itself says, or for all.
[[nodiscard]] ServeConfig with_capacity(ServeConfig config, std::optional<int> target_capacity);

/// Annotation kServeConfig of a RayCluster, so that an operator that is restarted knows it:
///
///   <hash>.<attempt>        accepted
///   <hash>.<attempt>.sent   written before it is sent: without an answer it may have taken effect
///
/// and behind that ".<reported>", if the configuration is sent again because Ray reports another one.
struct ServeRecord {
  std::string hash;          ///< Empty: nothing was sent.
  std::int64_t attempt = 0;  ///< Counts what was sent to this cluster.
  bool accepted = false;
  /// Hash of the configuration that Ray reported instead. If it reports the same after this attempt, it only writes
  /// the configuration differently.
  std::string reported = {};

  /// What does not have this form counts as nothing.
  static ServeRecord parse(const std::string& annotation);
  [[nodiscard]] std::string to_string() const;
};

/// The configuration that the record is about, from annotation kServeConfigBody; nothing if it is another one.
[[nodiscard]] std::optional<ServeConfig> recorded_config(const ServeRecord& record, const std::string& body);

}  // namespace tpuslice::rayservice
