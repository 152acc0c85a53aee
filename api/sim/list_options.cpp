#include "api/sim/list_options.h"

#include <charconv>

#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/sim/api_errors.h"

namespace tpuslice::sim {
namespace {

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::optional<std::int64_t>> number_of(const http::QueryParams& query, const char* name) {
  const std::string text = query.get(name);
  if (text.empty()) return std::optional<std::int64_t>();
  const auto value = number(text);
  if (!value) return bad_request(fmt::format("strconv.ParseInt: parsing \"{}\": invalid syntax", text));
  return value;
}

Status check_list(const ListOptions& options) {
  if (options.initial_events) {
    return invalid_options("sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list");
  }
  if (options.version_match.empty()) {
    if (!options.continue_token.empty() && options.revision() != 0) {
      return bad_request("specifying resource version is not allowed when using continue");
    }
    return {};
  }
  if (options.resource_version.empty()) {
    return invalid_options(
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (!options.continue_token.empty()) {
    return invalid_options(
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided");
  }
  if (options.version_match == "Exact" && options.resource_version == "0") {
    return invalid_options(
        "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  }
  return {};
}

Status check_watch(const ListOptions& options) {
  if (options.initial_events.value_or(false) && options.version_match != "NotOlderThan") {
    return invalid_options(
        "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (options.initial_events && !options.bookmarks && *options.initial_events) {
    return invalid_options("sendInitialEvents: Forbidden: sendInitialEvents requires allowWatchBookmarks");
  }
  if (!options.initial_events && !options.version_match.empty()) {
    return invalid_options(
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
        "provided");
  }
  return {};
}

}  // namespace

Revision ListOptions::revision() const {
  const auto value = number(resource_version);
  return value && *value > 0 ? static_cast<Revision>(*value) : 0;
}

Result<ListOptions> parse_list_options(const http::QueryParams& query) {
  ListOptions options;
  if (const std::string text = query.get("labelSelector"); !text.empty()) {
    Result<LabelSelector> parsed = LabelSelector::parse(text);
    if (!parsed) return bad_request("unable to parse requirement: " + parsed.error().message());
    options.labels = *std::move(parsed);
  }
  if (const std::string text = query.get("fieldSelector"); !text.empty()) {
    Result<FieldSelector> parsed = FieldSelector::parse(text);
    if (!parsed) return bad_request(fmt::format("invalid selector: '{}'; {}", text, parsed.error().message()));
    options.fields = *std::move(parsed);
  }
  ASSIGN_OR_RETURN(const std::optional<std::int64_t> limit, number_of(query, "limit"));
  options.limit = limit.value_or(0);
  options.continue_token = query.get("continue");
  options.resource_version = query.get("resourceVersion");
  options.version_match = query.get("resourceVersionMatch");
  options.watch = query.flag("watch");
  options.bookmarks = query.flag("allowWatchBookmarks");
  if (query.find("sendInitialEvents") != nullptr) options.initial_events = query.flag("sendInitialEvents");
  ASSIGN_OR_RETURN(options.timeout_seconds, number_of(query, "timeoutSeconds"));
  if (!options.resource_version.empty() && !number(options.resource_version)) {
    return Error::of(ErrorCode::kInvalidArgument,
                     "Invalid value: \"{}\": strconv.ParseUint: parsing \"{}\": invalid syntax",
                     options.resource_version, options.resource_version)
        .with_reason("BadRequest");
  }
  const std::string& match = options.version_match;
  if (!match.empty() && match != "Exact" && match != "NotOlderThan") {
    return invalid_options(fmt::format(
        "resourceVersionMatch: Unsupported value: \"{}\": supported values: \"Exact\", \"NotOlderThan\", \"\"", match));
  }
  RETURN_IF_ERROR(options.watch ? check_watch(options) : check_list(options));
  return options;
}

std::string ContinueToken::encode() const {
  const Json json = {{"v", "meta.k8s.io/v1"}, {"rv", revision}, {"start", after.namespace_name + "/" + after.name}};
  return encode_base64_url(json.dump());
}

Result<ContinueToken> ContinueToken::decode(const std::string& text) {
  const auto refuse = [](std::string_view why) {
    return bad_request(fmt::format("continue key is not valid: {}", why));
  };
  const auto bytes = decode_base64(text);
  if (!bytes) return refuse("illegal base64 data");
  const Result<Json> json = parse_json(*bytes);
  if (!json) return refuse(json.error().message());
  const Json* revision = find_path(*json, {"rv"});
  const std::string start = string_at(*json, {"start"});
  const std::size_t slash = start.find('/');
  if (string_at(*json, {"v"}) != "meta.k8s.io/v1" || revision == nullptr || !revision->is_number_integer() ||
      slash == std::string::npos) {
    return refuse("server does not recognize this encoded version");
  }
  return ContinueToken{revision->get<std::int64_t>(), {start.substr(0, slash), start.substr(slash + 1)}};
}

}  // namespace tpuslice::sim
