#include "webhook/rules/raycluster/token_auth.h"

#include <fmt/format.h>

#include "api/workloads/raycluster/ray_version.h"

namespace tpuslice::webhook {
namespace {

using raycluster::parse_ray_version;
using raycluster::RayClusterSpec;
using raycluster::RayVersion;

constexpr RayVersion kFirstWithTokens{2, 52, 0};
constexpr RayVersion kFirstWithServiceAccounts{2, 55, 0};

void check_version(const RayClusterSpec& spec, const RayVersion& first, std::string_view field,
                   std::vector<FieldError>& errors) {
  const std::string needed =
      fmt::format("spec.authOptions.{} needs Ray {}.{}.{} or later", field, first.major, first.minor, first.patch);
  if (spec.ray_version.empty()) {
    errors.push_back(required_value("spec.rayVersion", needed, kKubeRayRule));
    return;
  }
  const std::optional<RayVersion> version = parse_ray_version(spec.ray_version);
  if (!version) {
    errors.push_back(invalid_value("spec.rayVersion", spec.ray_version, needed + ", written as 2.52.0", kKubeRayRule));
  } else if (*version < first) {
    errors.push_back(invalid_value("spec.rayVersion", spec.ray_version, needed, kKubeRayRule));
  }
}

}  // namespace

void check_token_auth(const Json& cluster, const RayClusterSpec& spec, std::vector<FieldError>& errors) {
  const Json* mode = find_set(cluster, {"spec", "authOptions", "mode"});
  if (mode != nullptr && *mode != "" && *mode != "disabled" && *mode != "token") {
    errors.push_back(not_supported("spec.authOptions.mode", *mode, {"disabled", "token"}, kKubeRayRule));
  }
  if (!spec.auth.service_accounts) {
    if (spec.auth.token) check_version(spec, kFirstWithTokens, "mode token", errors);
    return;
  }
  if (!spec.auth.token) {
    errors.push_back(
        forbidden("spec.authOptions.enableK8sTokenAuth", "needs spec.authOptions.mode: token", kKubeRayRule));
    return;
  }
  check_version(spec, kFirstWithServiceAccounts, "enableK8sTokenAuth", errors);
  if (!spec.auth.secret.empty()) {
    errors.push_back(forbidden("spec.authOptions.secretName",
                               "cannot be combined with spec.authOptions.enableK8sTokenAuth", kKubeRayRule));
  }
}

std::vector<std::string> warn_token_auth(const Json& cluster) {
  const bool has_options = find_set(cluster, {"spec", "authOptions"}) != nullptr;
  if (!has_options || !string_at(cluster, {"spec", "authOptions", "mode"}).empty()) return {};
  return {"spec.authOptions.mode: is not set, so that clients need no token: set it to token, or to disabled"};
}

}  // namespace tpuslice::webhook
