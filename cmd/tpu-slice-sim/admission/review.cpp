#include "cmd/tpu-slice-sim/admission/review.h"

#include <array>

#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/http/url.h"

namespace tpuslice::sim {
namespace {

constexpr auto kVersion = "admission.k8s.io/v1";

Result<std::string> path_of(const Json& client_config) {
  if (client_config.contains("service")) {
    const std::string path = string_at(client_config, {"service", "path"});
    return path.empty() ? std::string("/") : path;
  }
  const std::string url = string_at(client_config, {"url"});
  if (url.empty()) return Error::invalid_argument("clientConfig has neither service nor url");
  ASSIGN_OR_RETURN(const http::BaseUrl base, http::parse_base_url(url));
  return base.path.empty() ? std::string("/") : base.path;
}

Result<Json> read_patch(const Json& response) {
  const Json* patch = find_path(response, {"patch"});
  const std::string type = string_at(response, {"patchType"});
  if (patch == nullptr || patch->is_null()) {
    if (!type.empty()) return Error::internal("webhook returned response.patchType but not response.patch");
    return Json();
  }
  if (type.empty()) return Error::internal("webhook returned response.patch but not response.patchType");
  if (type != "JSONPatch") return Error::internal("webhook returned invalid response.patchType of \"{}\"", type);
  if (!patch->is_string()) return Error::internal("webhook returned response.patch that is not a string");
  const std::optional<std::string> text = decode_base64(patch->get_ref<const std::string&>());
  if (!text) return Error::internal("webhook returned response.patch that is not base64");
  Result<Json> parsed = parse_json(*text);
  if (!parsed)
    return Error::internal("webhook returned response.patch that cannot be read: {}", parsed.error().message());
  return parsed;
}

std::vector<std::string> read_warnings(const Json& response) {
  std::vector<std::string> warnings;
  const Json* list = find_path(response, {"warnings"});
  if (list == nullptr || !list->is_array()) return warnings;
  for (const Json& each : *list) {
    if (each.is_string()) warnings.push_back(each.get<std::string>());
  }
  return warnings;
}

}  // namespace

Result<http::Request> review_request(const Webhook& webhook, const AdmissionRequest& request, const Json& object,
                                     const std::string& uid) {
  const Json* config = find_path(*webhook.entry, {"clientConfig"});
  if (config == nullptr || !config->is_object()) return Error::invalid_argument("clientConfig is missing");
  ASSIGN_OR_RETURN(const std::string path, path_of(*config));
  Json review = {{"apiVersion", kVersion}, {"kind", "AdmissionReview"}, {"request", request_attributes(request, uid)}};
  review["request"]["object"] = object;
  review["request"]["oldObject"] = request.old_object;
  http::Request post;
  post.method = "POST";
  post.target = fmt::format("{}?timeout={}s", path,
                            std::chrono::duration_cast<std::chrono::seconds>(timeout_of(webhook)).count());
  post.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  post.body = review.dump(-1, ' ', false, Json::error_handler_t::replace);
  return post;
}

Result<Verdict> read_review(const http::Response& response, const std::string& uid) {
  if (response.status != 200) {
    constexpr std::size_t kShown = 200;
    return Error::internal("the webhook answered HTTP {}: {}", response.status, response.body.substr(0, kShown));
  }
  const Result<Json> review = parse_json(response.body);
  if (!review) return Error::internal("couldn't get version/kind; json parse error: {}", review.error().message());
  const std::string version = string_at(*review, {"apiVersion"});
  const std::string kind = string_at(*review, {"kind"});
  if (version != kVersion || kind != "AdmissionReview") {
    return Error::internal("expected webhook response of {}, Kind=AdmissionReview, got {}, Kind={}", kVersion, version,
                           kind);
  }
  const Json* answer = find_path(*review, {"response"});
  if (answer == nullptr || !answer->is_object()) return Error::internal("webhook response was absent");
  if (const std::string echoed = string_at(*answer, {"uid"}); echoed != uid) {
    return Error::internal("expected response.uid=\"{}\", got \"{}\"", uid, echoed);
  }
  Verdict verdict;
  verdict.allowed = bool_at(*answer, {"allowed"});
  if (const Json* status = find_path(*answer, {"status"}); status != nullptr) verdict.status = *status;
  ASSIGN_OR_RETURN(verdict.patch, read_patch(*answer));
  verdict.warnings = read_warnings(*answer);
  return verdict;
}

Error denied(const std::string& webhook, const Json& status) {
  struct Code {
    std::int64_t http;
    ErrorCode code;
  };
  static constexpr std::array kCodes = {Code{401, ErrorCode::kUnauthorized},    Code{403, ErrorCode::kForbidden},
                                        Code{404, ErrorCode::kNotFound},        Code{409, ErrorCode::kConflict},
                                        Code{410, ErrorCode::kExpired},         Code{422, ErrorCode::kInvalid},
                                        Code{429, ErrorCode::kTooManyRequests}, Code{500, ErrorCode::kInternal},
                                        Code{503, ErrorCode::kUnavailable},     Code{504, ErrorCode::kTimeout}};
  const std::int64_t http = int_at(status, {"code"});
  ErrorCode code = ErrorCode::kInvalidArgument;
  for (const Code& each : kCodes) {
    if (each.http == http) code = each.code;
  }
  const std::string reason = string_at(status, {"reason"});
  const std::string message = string_at(status, {"message"}, reason);
  const std::string why = message.empty() ? " without explanation" : ": " + message;
  return Error::of(code, "admission webhook \"{}\" denied the request{}", webhook, why).with_reason(reason);
}

Duration timeout_of(const Webhook& webhook) {
  return std::chrono::seconds(int_at(*webhook.entry, {"timeoutSeconds"}, 10));
}

}  // namespace tpuslice::sim
