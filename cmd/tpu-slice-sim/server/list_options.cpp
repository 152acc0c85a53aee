#include "cmd/tpu-slice-sim/server/list_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/base64.h"
#include "api/base/strings.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"

namespace tpuslice::sim {
namespace {

Result<std::optional<std::int64_t>> number_of(const http::QueryParams& query, const char* name) {
  const std::string text = query.get(name);
  if (text.empty()) return std::optional<std::int64_t>();
  const auto value = parse_integer<std::int64_t>(text);
  if (!value) return bad_request(fmt::format("strconv.ParseInt: parsing \"{}\": invalid syntax", text));
  return value;
}

Error refused(const std::vector<std::string>& problems) {
  return invalid_options(problems.size() == 1 ? problems.front() : fmt::format("[{}]", fmt::join(problems, ", ")));
}

std::optional<std::string> match_problem(const ListOptions& options) {
  const std::string& match = options.version_match;
  if (match.empty()) return std::nullopt;
  if (options.resource_version.empty()) {
    return "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided";
  }
  if (!options.continue_token.empty()) {
    return "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided";
  }
  if (match != "Exact" && match != "NotOlderThan") {
    return fmt::format(
        "resourceVersionMatch: Unsupported value: \"{}\": supported values: \"Exact\", \"NotOlderThan\", \"\"", match);
  }
  if (match == "Exact" && options.resource_version == "0") {
    return "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
  }
  return std::nullopt;
}

Status check_list(const ListOptions& options) {
  std::vector<std::string> problems;
  if (auto problem = match_problem(options); problem) problems.push_back(*std::move(problem));
  if (options.initial_events) {
    problems.emplace_back("sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list");
  }
  if (!problems.empty()) return refused(problems);
  if (!options.continue_token.empty() && options.revision() != 0) {
    return bad_request("specifying resource version is not allowed when using continue");
  }
  return {};
}

Status check_watch(const ListOptions& options) {
  const std::string& match = options.version_match;
  if (!options.initial_events) {
    if (match.empty()) return {};
    return invalid_options(
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
        "provided");
  }
  std::vector<std::string> problems;
  if (match != "NotOlderThan") {
    problems.emplace_back(
        "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (!match.empty()) {
      problems.push_back(
          fmt::format("resourceVersionMatch: Unsupported value: \"{}\": supported values: \"NotOlderThan\"", match));
    }
  }
  if (!problems.empty()) return refused(problems);
  if (*options.initial_events && !options.bookmarks) {
    return invalid_options("sendInitialEvents: Forbidden: sendInitialEvents requires allowWatchBookmarks");
  }
  return {};
}

}  // namespace

Error invalid_version(std::string_view version) {
  return unreasoned(500, fmt::format("resourceVersion: Invalid value: \"{}\": strconv.ParseUint: parsing \"{}\": "
                                     "invalid syntax",
                                     version, version));
}

bool is_version(const std::string& text) { return text.empty() || parse_integer<std::int64_t>(text).has_value(); }

Revision ListOptions::revision() const {
  const auto value = parse_integer<std::int64_t>(resource_version);
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
  if (!options.resource_version.empty() && !parse_integer<std::int64_t>(options.resource_version)) {
    Error error = invalid_version(options.resource_version);
    return options.watch ? error : bad_request("invalid resource version: " + error.message());
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
    return bad_request(fmt::format("invalid continue token: continue key is not valid: {}", why));
  };
  const auto bytes = decode_base64(text);
  if (!bytes) return refuse("illegal base64 data");
  const Result<Json> json = parse_json(*bytes);
  if (!json) return refuse("it is not JSON");
  const Json* revision = find_path(*json, {"rv"});
  const std::string start = string_at(*json, {"start"});
  const std::size_t slash = start.find('/');
  if (string_at(*json, {"v"}) != "meta.k8s.io/v1" || revision == nullptr || !revision->is_number_integer() ||
      slash == std::string::npos) {
    return refuse("server does not recognize this encoded version ");
  }
  return ContinueToken{revision->get<std::int64_t>(), {start.substr(0, slash), start.substr(slash + 1)}};
}

}  // namespace tpuslice::sim
