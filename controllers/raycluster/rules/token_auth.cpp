#include "controllers/raycluster/rules/validator_parts.h"

#include <fmt/format.h>

#include "controllers/raycluster/rules/ray_version.h"

namespace tpuslice::rules {
namespace {

using raycluster::parse_ray_version;
using raycluster::RayVersion;

constexpr RayVersion kFirstWithTokens{2, 52, 0};
constexpr RayVersion kFirstWithServiceAccounts{2, 55, 0};

void check_version(const ClusterView& cluster, const RayVersion& first, std::string_view field, FieldErrors& errors) {
  const std::string& written = cluster.spec.ray_version;
  const std::string path = cluster.at("rayVersion");
  const std::string needed = fmt::format("{}.authOptions.{} needs Ray {}.{}.{} or later", cluster.path, field,
                                         first.major, first.minor, first.patch);
  if (written.empty()) {
    errors.push_back(required_value(path, needed, kKubeRayRule));
    return;
  }
  const std::optional<RayVersion> version = parse_ray_version(written);
  if (!version) {
    errors.push_back(invalid_value(path, written, needed + ", written as 2.52.0", kKubeRayRule));
  } else if (*version < first) {
    errors.push_back(invalid_value(path, written, needed, kKubeRayRule));
  }
}

}  // namespace

void check_token_auth(const ClusterView& cluster, FieldErrors& errors) {
  const raycluster::Authentication& auth = cluster.spec.auth;
  const Json* mode = find_set(cluster.json, {"spec", "authOptions", "mode"});
  if (mode != nullptr && *mode != "" && *mode != "disabled" && *mode != "token") {
    errors.push_back(not_supported(cluster.at("authOptions.mode"), *mode, {"disabled", "token"}, kKubeRayRule));
  }
  if (!auth.service_accounts) {
    if (auth.token) check_version(cluster, kFirstWithTokens, "mode token", errors);
    return;
  }
  if (!auth.token) {
    errors.push_back(forbidden(cluster.at("authOptions.enableK8sTokenAuth"),
                               fmt::format("needs {}: token", cluster.at("authOptions.mode")), kKubeRayRule));
    return;
  }
  check_version(cluster, kFirstWithServiceAccounts, "enableK8sTokenAuth", errors);
  if (!auth.secret.empty()) {
    errors.push_back(forbidden(cluster.at("authOptions.secretName"),
                               fmt::format("cannot be combined with {}", cluster.at("authOptions.enableK8sTokenAuth")),
                               kKubeRayRule));
  }
}

std::vector<std::string> warn_token_auth(const ClusterView& cluster) {
  const bool has_options = find_set(cluster.json, {"spec", "authOptions"}) != nullptr;
  if (!has_options || !string_at(cluster.json, {"spec", "authOptions", "mode"}).empty()) return {};
  return {fmt::format("{}: is not set, so that clients need no token: set it to token, or to disabled",
                      cluster.at("authOptions.mode"))};
}

}  // namespace tpuslice::rules
