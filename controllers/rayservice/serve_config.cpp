#include "controllers/rayservice/serve_config.h"

#include <utility>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "api/base/strings.h"
#include "api/types/utf8.h"
#include "api/types/yaml.h"
#include "controllers/ray/dashboard.h"

namespace tpuslice::rayservice {
namespace {

constexpr std::size_t kHashLength = 10;
constexpr std::string_view kSent = "sent";
/// Ray's name of an application without one.
constexpr std::string_view kDefaultApplication = "default";
/// Aliases can multiply a small text.
constexpr YamlLimits kConfigLimits{.bytes = 1U << 20U, .depth = 32, .nodes = 50'000};

}  // namespace

Result<ServeConfig> parse_serve_config(std::string_view yaml) {
  ServeConfig out;
  Result<Json> parsed = parse_yaml(yaml, kConfigLimits);
  if (!parsed) return parsed.error().within("spec.serveConfigV2");
  out.json = *std::move(parsed);
  if (out.json.is_null()) out.json = {{"applications", Json::array()}};
  if (!out.json.is_object()) {
    return Error::invalid_argument("spec.serveConfigV2: found {}, expected a mapping with applications",
                                   out.json.type_name());
  }
  for (const Json& application : array_at(out.json, {"applications"})) {
    out.applications.push_back(clip(string_at(application, {"name"}, kDefaultApplication), ray::kMaxName));
  }
  out.hash = short_hash(out.json.dump(), kHashLength);
  return out;
}

ServeRecord ServeRecord::parse(const std::string& annotation) {
  const std::vector<std::string> parts = split(annotation, '.');
  const bool sent = parts.size() == 3 && parts[2] == kSent;
  if (parts.size() != 2 && !sent) return {};
  const std::optional<int> attempt = parse_count(parts[1]);
  if (!attempt || parts[0].empty()) return {};
  return {parts[0], *attempt, !sent};
}

std::string ServeRecord::to_string() const {
  return fmt::format("{}.{}{}{}", hash, attempt, accepted ? "" : ".", accepted ? "" : kSent);
}

}  // namespace tpuslice::rayservice
