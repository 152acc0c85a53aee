// POST to collections; GET, PUT, PATCH and DELETE of single objects.
#include <fmt/format.h>

#include "api/sim/api_call.h"
#include "api/sim/api_errors.h"
#include "api/sim/conversion.h"
#include "api/sim/reviews.h"

namespace tpuslice::sim {
namespace {

/// The body as an object of this resource, its name and namespace agreed with the path.
Result<Json> object_of(const ApiCall& call) {
  ASSIGN_OR_RETURN(Json object, call.body());
  if (!object.is_object()) return bad_request("the request body is no object");
  const Resource& resource = *call.resource;
  const std::string kind = string_at(object, {"kind"}, resource.kind);
  const std::string version = string_at(object, {"apiVersion"}, resource.api_version());
  if (kind != resource.kind || version != resource.api_version()) {
    return bad_request(
        fmt::format("the API version in the data ({}, {}) does not match the expected API version ({}, {})", version,
                    kind, resource.api_version(), resource.kind));
  }
  object["apiVersion"] = version;
  object["kind"] = kind;
  Json& metadata = object["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (!metadata.is_object()) return bad_request("metadata is no object");
  const std::string named = string_at(metadata, {"namespace"});
  if (!named.empty() && named != call.info.namespace_name && resource.namespaced) {
    return bad_request("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (resource.namespaced) {
    metadata["namespace"] = call.info.namespace_name;
  } else {
    metadata.erase("namespace");
  }
  const std::string name = string_at(metadata, {"name"});
  if (!call.info.name.empty() && !name.empty() && name != call.info.name) {
    return bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, call.info.name));
  }
  if (!call.info.name.empty()) metadata["name"] = call.info.name;
  return object;
}

Result<http::Reply> replace(ApiCall& call) {
  ASSIGN_OR_RETURN(Json object, object_of(call));
  if (call.resource->custom && string_at(object, {"metadata", "resourceVersion"}).empty()) {
    return invalid(*call.resource, call.info.name,
                   {FieldProblem{"metadata.resourceVersion", "Invalid value: 0: must be specified for an update",
                                 "FieldValueInvalid"}});
  }
  ASSIGN_OR_RETURN(const Object written, call.registry.update(*call.resource, Object(std::move(object)),
                                                              call.info.subresource, call.write_options()));
  return call.reply(200, written.json());
}

Result<http::Reply> patch(ApiCall& call) {
  Patch change;
  change.content_type = content_type(call.request.headers);
  change.force = call.query.flag("force");
  const bool applies = change.content_type == "application/apply-patch+yaml";
  if (applies && call.query.get("fieldManager").empty()) {
    return Error::of(
               ErrorCode::kInvalid,
               "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch")
        .with_reason("Invalid");
  }
  if (change.force && !applies) {
    return Error::of(
               ErrorCode::kInvalid,
               "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch")
        .with_reason("Invalid");
  }
  ASSIGN_OR_RETURN(change.body, call.body());
  const bool existed = call.registry.get(*call.resource, call.key()).ok();
  if (applies && !existed) {
    ASSIGN_OR_RETURN(change.body, object_of(call));
  }
  ASSIGN_OR_RETURN(const Object written, call.registry.patch(*call.resource, call.key(), call.info.subresource, change,
                                                             call.write_options()));
  return call.reply(existed ? 200 : 201, written.json());
}

Result<http::Reply> remove(ApiCall& call) {
  ASSIGN_OR_RETURN(const DeleteOptions options, delete_options(call));
  ASSIGN_OR_RETURN(const Object last, call.registry.remove(*call.resource, call.key(), options));
  const Result<Object> left = call.registry.get(*call.resource, call.key());
  const bool gone = !left || left->uid() != last.uid();
  // Pods are returned even when they are gone, as the real server does.
  if (!gone || call.resource->id() == "pods" || options.write.dry_run) return call.reply(200, last.json());
  return json_reply(200, success_json(*call.resource, last.json()).dump());
}

}  // namespace

Result<DeleteOptions> delete_options(ApiCall& call) {
  DeleteOptions options;
  options.write = call.write_options();
  ASSIGN_OR_RETURN(const Json body, call.body());
  options.uid = string_at(body, {"preconditions", "uid"});
  options.resource_version = string_at(body, {"preconditions", "resourceVersion"});
  const Json* grace = find_path(body, {"gracePeriodSeconds"});
  if (grace != nullptr && grace->is_number_integer()) options.grace_seconds = grace->get<std::int64_t>();
  if (const std::string text = call.query.get("gracePeriodSeconds"); !text.empty()) {
    options.grace_seconds = std::strtoll(text.c_str(), nullptr, 10);
  }
  const Json* dry = find_path(body, {"dryRun"});
  if (dry != nullptr && dry->is_array() && !dry->empty()) options.write.dry_run = true;
  std::string policy = string_at(body, {"propagationPolicy"}, call.query.get("propagationPolicy"));
  const Json* orphan = find_path(body, {"orphanDependents"});
  if (policy.empty() && orphan != nullptr && orphan->is_boolean())
    policy = orphan->get<bool>() ? "Orphan" : "Background";
  if (policy.empty() && call.resource->id() == "jobs.batch") {
    policy = "Orphan";
    call.warnings.emplace_back(
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
        "set propagationPolicy=Orphan to suppress this warning");
  }
  if (policy.empty()) policy = "Background";
  if (policy != "Background" && policy != "Foreground" && policy != "Orphan") {
    return Error::of(
               ErrorCode::kInvalid,
               "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"{}\": supported "
               "values: \"Background\", \"Foreground\", \"Orphan\"",
               policy)
        .with_reason("Invalid");
  }
  options.propagation = policy;
  return options;
}

Result<http::Reply> handle_create(ApiCall& call) {
  ASSIGN_OR_RETURN(Json object, object_of(call));
  if (is_review(*call.resource)) return call.reply(201, answer_review(std::move(object), call.user));
  ASSIGN_OR_RETURN(const Object made,
                   call.registry.create(*call.resource, Object(std::move(object)), call.write_options()));
  return call.reply(201, made.json());
}

Result<http::Reply> handle_object(ApiCall& call) {
  const std::string& method = call.request.method;
  if (method == "GET") {
    ASSIGN_OR_RETURN(const Object found, call.registry.get(*call.resource, call.key()));
    return call.reply(200, found.json());
  }
  if (method == "PUT") return replace(call);
  if (method == "PATCH") return patch(call);
  if (method == "DELETE" && call.info.subresource.empty()) return remove(call);
  return method_not_allowed(*call.resource);
}

}  // namespace tpuslice::sim
