#include "api/client/client.h"

#include <algorithm>
#include <array>

#include "api/client/json_scan.h"
#include "api/client/list_splitter.h"
#include "api/client/protobuf_answer.h"
#include "api/client/view_fields.h"
#include "api/types/json_text.h"

namespace tpuslice::client {
namespace {

/// "get pods default/train-0"
std::string describe(std::string_view verb, const ResourceType& type, const ObjectKey& key) {
  return fmt::format("{} {} {}", verb, type.resource(), key.to_string());
}

/// A refused watch is answered with a body like any other request; this much of it is read for the error.
constexpr std::size_t kMaxErrorBody = 64U << 10U;

/// Skips all other members, such as managedFields.
Result<Object> read_metadata_only(std::string_view body, std::string_view what) {
  constexpr std::array<std::string_view, 4> kKept = {"name", "namespace", "uid", "resourceVersion"};
  Json kept = Json::object();
  JsonScanner metadata = json_members_of(body, "metadata");
  while (const std::optional<JsonMember> member = metadata.next()) {
    if (std::find(kKept.begin(), kKept.end(), member->name) == kKept.end()) continue;
    if (auto text = json_string(member->value)) kept[std::string(member->name)] = *std::move(text);
    if (kept.size() == kKept.size()) break;
  }
  if (!kept.contains("uid") || !kept.contains("resourceVersion")) {
    return Error::internal("{}: the response is not an object with uid and resourceVersion", what);
  }
  return Object(Json{{"metadata", std::move(kept)}});
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): the client's own sends the text without a copy
Result<Object> Writer::create_text(const ResourceType& type, const ObjectKey& key, std::string object,
                                   const CreateOptions& options, std::stop_token stop) {
  Result<Json> json = parse_json(object);
  if (!json) return json.error().within(describe("create", type, key));
  return create(type, Object(*std::move(json)), options, std::move(stop));
}

Result<http::Response> Client::send(http::Request request, std::string_view what, Duration deadline,
                                    std::stop_token stop) {
  request.headers.emplace_back("User-Agent", options_.user_agent);
  Result<http::Response> response = transport_.call(request, deadline, std::move(stop));
  if (!response) return response.error().within(what);
  if (response->status / 100 != 2) return error_from_response(*response, what);
  return response;
}

Result<Object> Client::send_for_object(http::Request request, std::string_view what, std::stop_token stop,
                                       Answer answer) {
  ASSIGN_OR_RETURN(const http::Response response, send(std::move(request), what, options_.deadline, std::move(stop)));
  if (answer == Answer::kMetadataOnly) return read_metadata_only(response.body, what);
  Result<Json> body = parse_json(response.body);
  if (!body) return Error::internal("{}: the response is not JSON: {}", what, body.error().message());
  if (!body->is_object()) return Error::internal("{}: the answer is {}, expected an object", what, body->type_name());
  return Object(*std::move(body));
}

Result<http::Response> Client::raw(http::Request request, std::stop_token stop) {
  const std::string what = request.method + " " + request.target;
  return send(std::move(request), what, options_.deadline, std::move(stop));
}

Result<Object> Client::get(const ResourceType& type, const ObjectKey& key, std::stop_token stop) {
  return send_for_object(get_request(type, key), describe("get", type, key), std::move(stop));
}

Result<ListPage> Client::list(const ResourceType& type, const ListOptions& options, std::stop_token stop) {
  const std::string what = "list " + type.resource();
  ASSIGN_OR_RETURN(const http::Response response,
                   send(list_request(type, options), what, options_.list_deadline, std::move(stop)));
  const protobuf::Message* const fields = options.for_view ? view_fields(type) : nullptr;
  if (fields != nullptr && is_protobuf(response.headers)) {
    Result<ListPage> page = convert_list(response.body, *fields);
    return page ? std::move(page) : page.error().within(what);
  }
  Result<SplitList> split = split_list(response.body);
  if (!split) return split.error().within(what);
  ListPage page;
  page.items.assign(split->items.begin(), split->items.end());
  page.resource_version = std::move(split->resource_version);
  page.continue_token = std::move(split->continue_token);
  page.remaining = split->remaining;
  return page;
}

Result<std::unique_ptr<WatchStream>> Client::watch(const ResourceType& type, const WatchOptions& options,
                                                   std::stop_token stop) {
  const std::string what = "watch " + type.resource();
  http::Request request = watch_request(type, options);
  request.headers.emplace_back("User-Agent", options_.user_agent);
  Result<std::unique_ptr<http::Stream>> stream = transport_.open(request, options_.deadline, stop);
  if (!stream) return stream.error().within(what);
  const int status = (*stream)->status();
  if (status / 100 == 2)
    return std::make_unique<WatchStream>(*std::move(stream), options.for_view ? view_fields(type) : nullptr,
                                         options_.max_watch_event);
  http::Response refusal{status, (*stream)->headers(), {}};
  while (refusal.body.size() < kMaxErrorBody) {
    const Result<std::string> bytes = (*stream)->read(options_.deadline, stop);
    if (!bytes || bytes->empty()) break;
    refusal.body += *bytes;
  }
  return error_from_response(refusal, what);
}

Result<Object> Client::create(const ResourceType& type, Object object, const CreateOptions& options,
                              std::stop_token stop) {
  const ObjectKey key = object.key();
  std::string text = print_json(object.json());
  object = Object();
  return Client::create_text(type, key, std::move(text), options, std::move(stop));
}

Result<Object> Client::create_text(const ResourceType& type, const ObjectKey& key, std::string object,
                                   const CreateOptions& options, std::stop_token stop) {
  CreateOptions filled = options;
  if (filled.field_manager.empty()) filled.field_manager = options_.field_manager;
  return send_for_object(create_request(type, key.namespace_name, std::move(object), filled),
                         describe("create", type, key), std::move(stop), options.answer);
}

Result<Object> Client::patch(const ResourceType& type, const ObjectKey& key, PatchType patch_type, const Json& body,
                             const PatchOptions& options, std::stop_token stop) {
  PatchOptions filled = options;
  if (filled.field_manager.empty()) filled.field_manager = options_.field_manager;
  ASSIGN_OR_RETURN(http::Request request, patch_request(type, key, patch_type, body, filled));
  return send_for_object(std::move(request), describe("patch", type, key), std::move(stop), options.answer);
}

Result<Object> Client::update_status(const ResourceType& type, const ObjectKey& key, const Json& status,
                                     PatchOptions options, std::stop_token stop) {
  options.subresource = "status";
  Json body = Json::object();
  body["status"] = status;
  return patch(type, key, PatchType::kMerge, body, options, std::move(stop));
}

Result<Object> Client::replace(const ResourceType& type, const Object& object, const CreateOptions& options,
                               std::stop_token stop) {
  CreateOptions filled = options;
  if (filled.field_manager.empty()) filled.field_manager = options_.field_manager;
  return send_for_object(replace_request(type, object.key(), object.json(), {}, filled),
                         describe("replace", type, object.key()), std::move(stop), options.answer);
}

Status Client::remove(const ResourceType& type, const ObjectKey& key, const DeleteOptions& options,
                      std::stop_token stop) {
  const Result<http::Response> response =
      send(delete_request(type, key, options), describe("delete", type, key), options_.deadline, std::move(stop));
  if (!response) return response.error();
  return {};
}

}  // namespace tpuslice::client
