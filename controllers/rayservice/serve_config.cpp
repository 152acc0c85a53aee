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
  Result<Json> parsed = parse_yaml(yaml, kConfigLimits);
  if (!parsed) return parsed.error().within("spec.serveConfigV2");
  if (parsed->is_null()) return serve_config_of({{"applications", Json::array()}});
  if (!parsed->is_object()) {
    return Error::invalid_argument("spec.serveConfigV2: found {}, expected a mapping with applications",
                                   parsed->type_name());
  }
  return serve_config_of(*std::move(parsed));
}

ServeConfig serve_config_of(Json json) {
  ServeConfig out;
  out.json = std::move(json);
  const Json* logging = find_set(out.json, {"logging_config"});
  for (const Json& application : array_at(out.json, {"applications"})) {
    out.applications.push_back(clip(string_at(application, {"name"}, kDefaultApplication), ray::kMaxName));
    Json given = application;
    // Ray gives it to each application without its own.
    if (logging != nullptr && given.is_object() && find_set(given, {"logging_config"}) == nullptr) {
      given["logging_config"] = *logging;
    }
    out.application_hashes[out.applications.back()] = ray::application_hash(given);
  }
  out.hash = short_hash(out.json.dump(), kHashLength);
  return out;
}

ServeConfig with_capacity(ServeConfig config, std::optional<int> target_capacity) {
  if (!target_capacity || !config.json.is_object()) return config;
  config.json["target_capacity"] = *target_capacity;
  config.hash = short_hash(config.json.dump(), kHashLength);
  return config;
}

std::optional<ServeConfig> recorded_config(const ServeRecord& record, const std::string& body) {
  if (record.hash.empty() || body.empty() || body.size() > kConfigLimits.bytes) return std::nullopt;
  Result<Json> json = parse_json(body);
  if (!json || !json->is_object()) return std::nullopt;
  ServeConfig out = serve_config_of(*std::move(json));
  return out.hash == record.hash ? std::optional(std::move(out)) : std::nullopt;
}

ServeRecord ServeRecord::parse(const std::string& annotation) {
  std::vector<std::string> parts = split(annotation, '.');
  if (parts.size() < 2 || parts[0].empty()) return {};
  const std::optional<int> attempt = parse_count(parts[1]);
  if (!attempt) return {};
  ServeRecord out{parts[0], *attempt, true};
  parts.erase(parts.begin(), parts.begin() + 2);
  if (!parts.empty() && parts[0] == kSent) {
    out.accepted = false;
    parts.erase(parts.begin());
  }
  if (parts.empty()) return out;
  const bool is_hash = !parts[0].empty() && parts[0].find_first_not_of(kSafeAlphabet) == std::string::npos;
  if (parts.size() > 1 || !is_hash) return {};
  out.reported = parts[0];
  return out;
}

std::string ServeRecord::to_string() const {
  std::string out = fmt::format("{}.{}", hash, attempt);
  if (!accepted) out += fmt::format(".{}", kSent);
  if (!reported.empty()) out += "." + reported;
  return out;
}

}  // namespace tpuslice::rayservice
