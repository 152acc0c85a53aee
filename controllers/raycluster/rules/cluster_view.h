// ClusterView: a RayCluster for its rules, whether it is an object or the spec that a RayJob or RayService embeds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "controllers/raycluster/rules/spec.h"
#include "tpu/rules/field_errors.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::rules {

/// Borrows the cluster and its spec.
struct ClusterView {
  const Json& json;  ///< With metadata and spec. An embedded cluster: as its controller would create it.
  const raycluster::RayClusterSpec& spec;  ///< Read from `json`.
  std::string path = "spec";               ///< Path of the spec in the user's object: "spec.rayClusterSpec".

  /// Path of a field of the spec: at("rayVersion").
  [[nodiscard]] std::string at(std::string_view field) const { return fmt::format("{}.{}", path, field); }
};

/// The cluster that a RayJob or RayService `owner` makes of its field spec.`field`; null if the field is not set. It
/// has no name, so that rules for names do not apply.
[[nodiscard]] Json embedded_cluster(const Json& owner, std::string_view field);

/// Appends all errors of the cluster, in the order of its fields. `old` is the stored cluster on an update, else null.
void check_cluster(const ClusterView& cluster, const Json* old, FieldErrors& errors);

/// Warnings about what is valid but probably not intended.
[[nodiscard]] std::vector<std::string> warn_cluster(const ClusterView& cluster);

/// Unsupported fields in use, of the spec of a cluster, which is at `path`.
[[nodiscard]] std::vector<UnsupportedField> unsupported_cluster_fields(const Json& spec, std::string_view path);

/// Whether the serve service would have a port: the head's Ray container has one that is named serve or serve-*, or it
/// declares no ports.
[[nodiscard]] bool has_serve_port(const Json& cluster);

}  // namespace tpuslice::rules
