#include "cmd/tpu-slice-sim/server/api_server.h"

#include <fmt/format.h>

#include "api/types/utf8.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-sim/openapi/openapi.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/resources/builtin_resources.h"
#include "cmd/tpu-slice-sim/schema/decode.h"
#include "cmd/tpu-slice-sim/server/api_call.h"
#include "cmd/tpu-slice-sim/server/discovery.h"
#include "cmd/tpu-slice-sim/server/protobuf.h"

namespace tpuslice::sim {
namespace {

http::Reply error_reply(const Error& error) {
  // The message may quote arbitrary bytes of the request body.
  http::Reply reply =
      json_reply(http_status(error), status_json(error).dump(-1, ' ', false, Json::error_handler_t::replace));
  if (error.retry_after()) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*error.retry_after()).count();
    reply.response.headers.emplace_back("Retry-After", std::to_string(seconds));
  }
  return reply;
}

http::Reply text_reply(std::string text) {
  http::Reply reply;
  reply.response.status = 200;
  reply.response.headers = {{"Content-Type", "text/plain; charset=utf-8"}};
  reply.response.body = std::move(text);
  return reply;
}

/// The reply for paths that are not served.
http::Reply page_not_found() {
  http::Reply reply = text_reply("404 page not found\n");
  reply.response.status = 404;
  return reply;
}

Status check_include_object(const ApiCall& call) {
  const std::string include = call.query.get("includeObject");
  if (call.form != Form::kTable || include.empty()) return {};
  for (const char* each : {"None", "Metadata", "Object"}) {
    if (include == each) return {};
  }
  return bad_request(
      fmt::format("Unable to convert to Table as requested: includeObject: Invalid value: \"{}\": must be "
                  "'Metadata', 'Object', 'None', or empty",
                  include));
}

/// An unknown group is not a path of the API; in a served group, the resource is missing.
Result<http::Reply> page_or_resource_missing(const ApiCall& call) {
  for (const ResourcePtr& each : call.registry.resources().list()) {
    if (each->group == call.info.group) return no_such_resource();
  }
  return page_not_found();
}

Result<http::Reply> handle_resource(ApiCall& call) {
  call.resource = call.registry.resources().find(call.info.group, call.info.version, call.info.plural);
  if (!call.resource) return page_or_resource_missing(call);
  const Resource& resource = *call.resource;
  const bool one = !call.info.name.empty();
  const std::string& method = call.request.method;
  if (resource.namespaced && one && call.info.namespace_name.empty()) return no_such_resource();
  if (!resource.namespaced && !call.info.namespace_name.empty()) return no_such_resource();
  if (resource.namespaced && call.info.namespace_name.empty() && method != "GET") return method_not_allowed();
  ASSIGN_OR_RETURN(call.form, negotiate(call.request.headers, resource.custom));
  RETURN_IF_ERROR(check_include_object(call));
  const std::string& part = call.info.subresource;
  if (!part.empty() && part != "status" && part != "finalize") return handle_subresource(call);
  if (part == "status" && !resource.has_status) {
    return resource.custom ? not_found(resource, call.info.name) : no_such_resource();
  }
  if (part == "finalize" && resource.id() != "namespaces") return no_such_resource();
  if (one) return handle_object(call);
  if (method == "GET") return handle_list(call);
  if (method == "POST") return handle_create(call);
  if (method == "DELETE" && resource.id() != "namespaces") return handle_delete_collection(call);
  if (resource.custom && (method == "PUT" || method == "PATCH")) return bad_request("name must be provided");
  return method_not_allowed();
}

Result<http::Reply> handle_other(const ApiCall& call) {
  const std::vector<std::string>& path = call.info.segments;
  const std::string first = path.empty() ? "" : path[0];
  if (call.request.method != "GET" && call.request.method != "HEAD") return page_not_found();
  if (first == "healthz" || first == "readyz" || first == "livez") return text_reply("ok");
  if (first == "version" && path.size() == 1) return json_reply(200, version_json(call.options.version).dump());
  if (first == "openapi") return openapi_reply(call);
  const auto found = discovery_json(call.registry.resources(), path, wants_aggregated_discovery(call.request.headers));
  if (!found) {
    const bool group = path.size() > 1 && first == "apis" &&
                       discovery_json(call.registry.resources(), {path[0], path[1]}, false).has_value();
    return group ? Result<http::Reply>(no_such_resource()) : Result<http::Reply>(page_not_found());
  }
  http::Reply reply = json_reply(200, found->body.dump());
  reply.response.headers[0].second = found->content_type;
  return reply;
}

}  // namespace

http::Reply json_reply(int status, std::string body) {
  http::Reply reply;
  reply.response.status = status;
  reply.response.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}};
  reply.response.body = std::move(body);
  return reply;
}

Presenter ApiCall::presenter() const {
  const std::string include = query.get("includeObject");
  const RowObject with = include == "None"     ? RowObject::kNone
                         : include == "Object" ? RowObject::kObject
                                               : RowObject::kMetadata;
  return {*resource, form, with, registry.clock().wall()};
}

WriteOptions ApiCall::write_options() {
  WriteOptions write;
  write.user = user;
  write.field_manager = query.get("fieldManager");
  if (write.field_manager.empty()) {
    const std::string* agent = http::find_header(request.headers, "User-Agent");
    const bool named = agent != nullptr && is_utf8(*agent);
    write.field_manager = named ? agent->substr(0, agent->find('/')) : "unknown";
  }
  write.dry_run = query.get("dryRun") == "All";
  if (const std::string validation = query.get("fieldValidation"); !validation.empty()) {
    write.field_validation = validation;
  }
  write.warnings = &warnings;
  return write;
}

Result<Json> ApiCall::body() {
  if (request.body.empty()) return Json();
  const std::string type = content_type(request.headers);
  if (type == "application/vnd.kubernetes.protobuf") return decode_protobuf(request.body);
  if (type.find("json") == std::string::npos && type.find("yaml") == std::string::npos) {
    return Error::unsupported(
               "the body of the request was in an unknown format - accepted media types include: application/json, "
               "application/yaml, application/vnd.kubernetes.protobuf")
        .with_reason("UnsupportedMediaType");
  }
  const bool yaml = type.find("yaml") != std::string::npos;
  Result<Json> parsed = yaml ? parse_yaml(request.body) : parse_json(request.body, {.refuse_duplicate_keys = true});
  if (!parsed && !yaml) {
    parsed = parse_json(request.body);
    repeats = parsed.ok();
  }
  if (!parsed && yaml) return bad_request("error decoding YAML: " + parsed.error().message());
  if (!parsed) return unrecognized(*resource, request.body);
  return parsed;
}

http::Reply ApiCall::reply(int status, const Json& object) const {
  http::Reply out = json_reply(status, presenter().one(object).dump());
  for (const std::string& warning : warnings) {
    out.response.headers.emplace_back("Warning", fmt::format("299 - {}", Json(warning).dump()));
  }
  return out;
}

ApiServer::ApiServer(Registry& registry, ApiServerOptions options)
    : registry_(registry), options_(std::move(options)) {}

http::Reply ApiServer::handle(const http::Request& request, const UserInfo& user) {
  Result<RequestInfo> info = parse_request_path(http::split_target(request.target).path);
  if (!info) return error_reply(info.error());
  ApiCall call{registry_, options_, request, user, *std::move(info), http::parse_query(request.target), {}, {}, {}};
  for (const auto& [name, value] : call.query.all()) {
    if (!is_utf8(value)) return error_reply(bad_request("the query of the request is not UTF-8"));
  }
  Result<http::Reply> reply = call.info.resource_request ? handle_resource(call) : handle_other(call);
  if (reply) return *std::move(reply);
  http::Reply refused = error_reply(reply.error());
  for (const std::string& warning : call.warnings) {
    refused.response.headers.emplace_back("Warning", fmt::format("299 - {}", Json(warning).dump()));
  }
  return refused;
}

}  // namespace tpuslice::sim
