#include "api/client/requests.h"

#include <algorithm>

#include "api/base/strings.h"
#include "api/client/protobuf_answer.h"
#include "api/client/view_fields.h"
#include "api/http/url.h"
#include "api/types/json_text.h"
#include "api/types/utf8.h"

namespace tpuslice::client {
namespace {

constexpr std::string_view kJson = "application/json";
/// The server falls back to plain JSON for what has no metadata-only form, such as a Status.
constexpr std::string_view kMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
constexpr std::string_view kMetadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
constexpr std::size_t kShownBody = 200;
constexpr std::size_t kMaxMessage = 4096;
constexpr std::size_t kMaxFields = 16;
constexpr std::size_t kMaxField = 256;
constexpr std::string_view kUidField = "metadata.uid";

http::Request request(std::string method, std::string path, const http::QueryParams& query,
                      std::string_view accept = kJson) {
  http::Request out;
  out.method = std::move(method);
  out.target = std::move(path);
  if (!query.empty()) out.target += "?" + query.encode();
  out.headers.emplace_back("Accept", accept);
  return out;
}

std::string_view accept_of(Answer answer) { return answer == Answer::kMetadataOnly ? kMetadata : kJson; }
std::string_view accept_of(const ResourceType& type, bool for_view) {
  return for_view && view_fields(type) != nullptr ? kAcceptProtobuf : kJson;
}

void set_body(http::Request& out, std::string_view content_type, std::string body) {
  out.headers.emplace_back("Content-Type", content_type);
  out.body = std::move(body);
}

void set_body(http::Request& out, std::string_view content_type, const Json& body) {
  set_body(out, content_type, print_json(body));
}

void add(http::QueryParams& query, std::string_view name, const std::string& value) {
  if (!value.empty()) query.add(std::string(name), value);
}

http::QueryParams write_query(const std::string& field_manager, bool dry_run) {
  http::QueryParams query;
  add(query, "fieldManager", field_manager);
  if (dry_run) query.add("dryRun", "All");
  return query;
}

std::string_view content_type_of(PatchType patch) {
  switch (patch) {
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategic:
      return "application/strategic-merge-patch+json";
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";  // JSON is YAML; older servers support this name only.
  }
  return {};
}

/// uid and resourceVersion in a merge patch are preconditions: the server refuses the patch if they differ.
Status add_preconditions(Json& body, PatchType patch, const PatchOptions& options, const ObjectKey& key) {
  if (options.uid.empty() && options.resource_version.empty()) return {};
  if (patch != PatchType::kMerge && patch != PatchType::kStrategic) {
    return Error::invalid_argument("patch {}: only a merge patch can have a precondition", key.to_string());
  }
  Json& metadata = body["metadata"];
  if (!metadata.is_object() && !metadata.is_null()) {
    return Error::invalid_argument("patch {}: metadata is {}, expected an object", key.to_string(),
                                   metadata.type_name());
  }
  if (!options.uid.empty()) metadata["uid"] = options.uid;
  if (!options.resource_version.empty()) metadata["resourceVersion"] = options.resource_version;
  return {};
}

ErrorCode code_of(int status, std::string_view reason) {
  if (reason == "AlreadyExists") return ErrorCode::kAlreadyExists;
  if (reason == "Expired" || reason == "Gone") return ErrorCode::kExpired;
  switch (status) {
    case 400:
    case 405:
    case 406:
    case 413:
    case 415:
      return ErrorCode::kInvalidArgument;
    case 401:
      return ErrorCode::kUnauthorized;
    case 403:
      return ErrorCode::kForbidden;
    case 404:
      return ErrorCode::kNotFound;
    case 409:
      return ErrorCode::kConflict;
    case 410:
      return ErrorCode::kExpired;
    case 422:
      return ErrorCode::kInvalid;
    case 429:
      return ErrorCode::kTooManyRequests;
    case 504:
      return ErrorCode::kTimeout;
    default:
      return status >= 500 ? ErrorCode::kUnavailable : ErrorCode::kInternal;
  }
}

/// The code of an answer without a Status, which comes from a proxy: one that does not accept our media types, for a
/// moment or for good, says nothing about the object.
ErrorCode code_of_foreign(int status) {
  return status == 406 || status == 415 ? ErrorCode::kUnavailable : code_of(status, "");
}

constexpr std::string_view kTooLarge = "ResourceVersionTooLarge";
/// A cause from the server's admission plugin NamespaceLifecycle.
constexpr std::string_view kNamespaceTerminating = "NamespaceTerminating";

/// The reason of a cause that says more than that of the Status, which is Timeout or Forbidden.
std::string reason_of(const Json& status) {
  for (const Json& cause : array_at(status, {"details", "causes"})) {
    std::string reason = string_at(cause, {"reason"});
    if (reason == kTooLarge || reason == kNamespaceTerminating) return reason;
  }
  return string_at(status, {"reason"});
}

/// Those of a long list are not all kept: an object of a user may have any number of problems.
std::vector<std::string> fields_of(const Json& status) {
  std::vector<std::string> fields;
  for (const Json& cause : array_at(status, {"details", "causes"})) {
    std::string field = string_at(cause, {"field"});
    if (!field.empty() && field.size() <= kMaxField) fields.push_back(std::move(field));
    if (fields.size() == kMaxFields) break;
  }
  return fields;
}

/// A longer Retry-After, such as a proxy may send, is cut to this: no watch is opened again before it has passed.
constexpr std::int64_t kMaxRetryAfterSeconds = 60;

}  // namespace

http::Request get_request(const ResourceType& type, const ObjectKey& key, std::string_view subresource) {
  return request("GET", type.path(key.namespace_name, key.name, subresource), {});
}

http::Request list_request(const ResourceType& type, const ListOptions& options) {
  http::QueryParams query;
  add(query, "labelSelector", options.label_selector);
  add(query, "fieldSelector", options.field_selector);
  if (options.limit > 0) query.add("limit", std::to_string(options.limit));
  add(query, "continue", options.continue_token);
  // With a continue token the server refuses a resourceVersion: the token carries it.
  if (options.continue_token.empty()) {
    add(query, "resourceVersion", options.resource_version);
    add(query, "resourceVersionMatch", options.resource_version_match);
  }
  http::Request out = request("GET", type.path(options.namespace_name), query,
                              options.metadata_only ? kMetadataList : accept_of(type, options.for_view));
  out.max_response = options.max_bytes;
  return out;
}

http::Request watch_request(const ResourceType& type, const WatchOptions& options) {
  http::QueryParams query;
  query.add("watch", "true");
  add(query, "labelSelector", options.label_selector);
  add(query, "fieldSelector", options.field_selector);
  add(query, "resourceVersion", options.resource_version);
  if (options.allow_bookmarks) query.add("allowWatchBookmarks", "true");
  if (options.send_initial_events) {
    query.add("sendInitialEvents", "true");
    query.add("resourceVersionMatch", "NotOlderThan");
  }
  if (options.timeout_seconds > 0) query.add("timeoutSeconds", std::to_string(options.timeout_seconds));
  return request("GET", type.path(options.namespace_name), query, accept_of(type, options.for_view));
}

http::Request create_request(const ResourceType& type, std::string_view namespace_name, std::string body,
                             const CreateOptions& options) {
  http::QueryParams query = write_query(options.field_manager, options.dry_run);
  if (options.timeout.count() > 0) query.add("timeout", fmt::format("{}s", options.timeout.count()));
  http::Request out = request("POST", type.path(namespace_name), query, accept_of(options.answer));
  set_body(out, kJson, std::move(body));
  out.may_send = options.may_send;
  return out;
}

Result<http::Request> patch_request(const ResourceType& type, const ObjectKey& key, PatchType patch, Json body,
                                    const PatchOptions& options) {
  if ((patch == PatchType::kMerge || patch == PatchType::kStrategic) && !body.is_object()) {
    return Error::invalid_argument("patch {}: a merge patch is an object, not {}", key.to_string(), body.type_name());
  }
  RETURN_IF_ERROR(add_preconditions(body, patch, options, key));
  http::QueryParams query = write_query(options.field_manager, options.dry_run);
  if (options.force) {
    if (patch != PatchType::kApply) {
      return Error::invalid_argument("patch {}: only an apply patch can be forced", key.to_string());
    }
    query.add("force", "true");
  }
  http::Request out =
      request("PATCH", type.path(key.namespace_name, key.name, options.subresource), query, accept_of(options.answer));
  set_body(out, content_type_of(patch), body);
  out.may_send = options.may_send;
  return out;
}

http::Request replace_request(const ResourceType& type, const ObjectKey& key, const Json& body,
                              std::string_view subresource, const CreateOptions& options) {
  http::Request out = request("PUT", type.path(key.namespace_name, key.name, subresource),
                              write_query(options.field_manager, options.dry_run), accept_of(options.answer));
  set_body(out, kJson, body);
  out.may_send = options.may_send;
  return out;
}

http::Request delete_request(const ResourceType& type, const ObjectKey& key, const DeleteOptions& options) {
  Json body = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", options.propagation}};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) body["preconditions"]["resourceVersion"] = options.resource_version;
  if (options.grace_seconds) body["gracePeriodSeconds"] = *options.grace_seconds;
  http::Request out = request("DELETE", type.path(key.namespace_name, key.name), {}, kMetadata);
  set_body(out, kJson, body);
  out.may_send = options.may_send;
  return out;
}

Error error_from_status(const Json& status, int fallback_code, std::string_view what) {
  int code = fallback_code;
  if (const Json* given = find_path(status, {"code"}); given != nullptr && given->is_number_integer()) {
    if (given->get<int>() > 0) code = given->get<int>();  // 0: not set; protobuf has it nevertheless.
  }
  const std::string reason = reason_of(status);
  // A message quotes the value that was refused, which can be most of the object.
  const std::string message = clip(string_at(status, {"message"}, "no message"), kMaxMessage);
  Error error = Error::of(code_of(code, reason), "{}: {}", what, message);
  error.with_reason(reason).with_fields(fields_of(status));
  const Json* wait = find_path(status, {"details", "retryAfterSeconds"});
  if (wait != nullptr && wait->is_number_integer() && wait->get<std::int64_t>() > 0) {
    error.with_retry_after(std::chrono::seconds(std::min(wait->get<std::int64_t>(), kMaxRetryAfterSeconds)));
  }
  return error;
}

Error error_from_response(const http::Response& response, std::string_view what) {
  const std::string& text = response.body;
  const Result<Json> body = parse_json(is_protobuf(response.headers) ? convert_status(text).value_or("") : text);
  const bool is_status = body.ok() && body->is_object() && string_at(*body, {"kind"}) == "Status";
  Error error = Error::internal("");
  if (response.status / 100 == 3) {
    const std::string* location = http::find_header(response.headers, "Location");
    error = Error::internal("{}: the server answered {} and points to {}; redirects are not followed", what,
                            response.status, location == nullptr ? "nowhere" : *location);
  } else if (is_status) {
    error = error_from_status(*body, response.status, what);
  } else {
    std::string shown = response.body.substr(0, kShownBody);
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    error = Error::of(code_of_foreign(response.status), "{}: HTTP {}: {}", what, response.status, shown);
  }
  const std::string* wait = http::find_header(response.headers, "Retry-After");
  if (wait != nullptr && !error.retry_after()) {
    // An API server never sends the other form of Retry-After, a date.
    if (const auto seconds = parse_integer<std::int64_t>(*wait); seconds && *seconds >= 0) {
      error.with_retry_after(std::chrono::seconds(std::min(*seconds, kMaxRetryAfterSeconds)));
    }
  }
  return error;
}

bool is_other_uid(const Error& error) {
  return error.code() == ErrorCode::kInvalid && std::ranges::find(error.fields(), kUidField) != error.fields().end();
}

std::string missing_service_account(const Error& error) {
  constexpr std::string_view kBegin = "error looking up service account ";
  constexpr std::string_view kName = ": serviceaccount \"";
  constexpr std::string_view kEnd = "\" not found";
  const std::string_view text = error.message();
  const std::size_t begin = text.find(kBegin);
  const std::size_t name = text.find(kName, begin);
  const std::size_t end = text.find(kEnd, name);
  if (end == std::string_view::npos) return {};
  return std::string(text.substr(name + kName.size(), end - name - kName.size()));
}

bool is_namespace_terminating(const Error& error) { return error.reason() == kNamespaceTerminating; }

bool is_resource_version_too_large(const Error& error) { return error.reason() == kTooLarge; }

}  // namespace tpuslice::client
