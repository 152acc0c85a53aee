// POST to collections; GET, PUT, PATCH and DELETE of single objects.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cmd/tpu-slice-sim/patch/patch.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/resources/builtin_resources.h"
#include "cmd/tpu-slice-sim/resources/conversion.h"
#include "cmd/tpu-slice-sim/schema/decode.h"
#include "cmd/tpu-slice-sim/server/api_call.h"
#include "cmd/tpu-slice-sim/server/list_options.h"

namespace tpuslice::sim {
namespace {

/// Only custom resources must have apiVersion and kind.
Status check_type(const ApiCall& call, const Json& object) {
  const Resource& resource = *call.resource;
  std::string kind = string_at(object, {"kind"});
  std::string version = string_at(object, {"apiVersion"});
  if (resource.custom) {
    if (kind.empty()) {
      const std::string start = call.request.body.substr(0, 30);
      return bad_request(
          fmt::format("the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in '{}' ({})",
                      resource.kind, call.request.body, start.size() < 30 ? start : start + " ..."));
    }
    if (version != resource.api_version()) {
      return bad_request(fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                                     version, resource.api_version()));
    }
  }
  if (kind.empty()) kind = resource.kind;
  if (version.empty()) version = resource.api_version();
  if (kind == resource.kind && version == resource.api_version()) return {};
  const std::string_view short_version = std::string_view(version).substr(version.rfind('/') + 1);
  const ResourcePtr other = call.registry.resources().find_kind(version, kind);
  if (other != nullptr && !other->custom) {
    return bad_request(
        fmt::format("{} in version \"{}\" cannot be handled as a {}: converting ({}.{}) to ({}.{}): unknown conversion",
                    kind, short_version, resource.kind, short_version, kind, internal_group(resource), resource.kind));
  }
  return bad_request(
      fmt::format("{} in version \"{}\" cannot be handled as a {}: no kind \"{}\" is registered for version \"{}\" in "
                  "scheme \"pkg/runtime/scheme.go:111\"",
                  kind, short_version, resource.kind, kind, version));
}

/// The last of several members with one name counts, unless fieldValidation is Strict.
Status check_duplicates(ApiCall& call) {
  if (!call.repeats) return {};
  std::vector<std::string> problems;
  for (const std::string& each : duplicate_fields(call.request.body)) {
    problems.push_back(fmt::format("duplicate field \"{}\"", each));
  }
  if (problems.empty()) return {};
  const std::string mode = call.query.get("fieldValidation");
  if (mode == "Strict") {
    return undecodable(*call.resource, fmt::format("strict decoding error: {}", fmt::join(problems, ", ")));
  }
  if (mode != "Ignore") call.warnings.insert(call.warnings.end(), problems.begin(), problems.end());
  return {};
}

Error refused_options(std::string_view kind, const std::string& problem) {
  return Error::of(ErrorCode::kInvalid, "{}.meta.k8s.io \"\" is invalid: {}", kind, problem).with_reason("Invalid");
}

/// Checks CreateOptions, UpdateOptions or PatchOptions.
Status check_options(const ApiCall& call, std::string_view kind) {
  if (const std::string dry = call.query.get("dryRun"); !dry.empty() && dry != "All") {
    return refused_options(kind, fmt::format("dryRun: Unsupported value: [\"{}\"]: supported values: \"All\"", dry));
  }
  const std::string mode = call.query.get("fieldValidation");
  if (mode.empty() || mode == "Ignore" || mode == "Strict" || mode == "Warn") return {};
  return refused_options(kind, fmt::format("fieldValidation: Unsupported value: \"{}\": supported values: \"\", "
                                           "\"Ignore\", \"Strict\", \"Warn\"",
                                           mode));
}

/// The error for names in a body that differ from the path.
Status check_names(const ApiCall& call, const Json& object) {
  const std::string name = string_at(object, {"metadata", "name"});
  if (name.empty() || name == call.info.name) return {};
  return bad_request(
      fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, call.info.name));
}

/// The body as an object of this resource, with the name and namespace of the path.
Result<Json> object_of(ApiCall& call) {
  ASSIGN_OR_RETURN(Json object, call.body());
  if (!object.is_object()) return unrecognized(*call.resource, call.request.body);
  const Resource& resource = *call.resource;
  RETURN_IF_ERROR(check_type(call, object));
  RETURN_IF_ERROR(check_duplicates(call));
  const std::string kind = string_at(object, {"kind"}, resource.kind);
  const std::string version = string_at(object, {"apiVersion"}, resource.api_version());
  object["apiVersion"] = version;
  object["kind"] = kind;
  Json& metadata = object["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (!metadata.is_object()) return bad_request("metadata is not an object");
  const std::string named = string_at(metadata, {"namespace"});
  if (!named.empty() && named != call.info.namespace_name && resource.namespaced) {
    return bad_request("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (resource.namespaced) {
    metadata["namespace"] = call.info.namespace_name;
  } else {
    metadata.erase("namespace");
  }
  if (!call.info.name.empty()) RETURN_IF_ERROR(check_names(call, object));
  if (!call.info.name.empty()) metadata["name"] = call.info.name;
  return object;
}

Result<http::Reply> replace(ApiCall& call) {
  RETURN_IF_ERROR(check_options(call, "UpdateOptions"));
  ASSIGN_OR_RETURN(Json object, object_of(call));
  const std::string version = string_at(object, {"metadata", "resourceVersion"});
  if (!is_version(version)) {
    return unreasoned(500, fmt::format("strconv.ParseUint: parsing \"{}\": invalid syntax", version));
  }
  const bool exists = call.registry.get(*call.resource, call.key()).ok();
  if (!exists && call.info.subresource.empty() && creates_on_update(*call.resource)) {
    ASSIGN_OR_RETURN(const Object created,
                     call.registry.create(*call.resource, Object(std::move(object)), call.write_options()));
    return call.reply(201, created.json());
  }
  if (exists && version.empty() && needs_version(*call.resource)) {
    Resource named = *call.resource;
    named.kind = named.plural;
    return invalid(named, call.info.name,
                   {FieldProblem{"metadata.resourceVersion", "Invalid value: 0: must be specified for an update",
                                 "FieldValueInvalid"}});
  }
  ASSIGN_OR_RETURN(const Object written, call.registry.update(*call.resource, Object(std::move(object)),
                                                              call.info.subresource, call.write_options()));
  return call.reply(200, written.json());
}

Result<http::Reply> patch(ApiCall& call) {
  RETURN_IF_ERROR(check_options(call, "PatchOptions"));
  Patch change;
  change.content_type = content_type(call.request.headers);
  RETURN_IF_ERROR(check_patch_type(*call.resource, change.content_type));
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
  if (applies) {
    ASSIGN_OR_RETURN(change.body, call.body());
    RETURN_IF_ERROR(check_names(call, change.body));
  } else {
    ASSIGN_OR_RETURN(change.body, parse_patch(change.content_type, call.request.body));
    // A JSON patch is not checked for names.
    if (change.body.is_object()) RETURN_IF_ERROR(check_names(call, change.body));
  }
  const bool existed = call.registry.get(*call.resource, call.key()).ok();
  if (applies && !existed && string_at(change.body, {"kind"}) == call.resource->kind) {
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
  // Such an object is returned even if it was removed at once, as by the real server.
  const std::string id = call.resource->id();
  if (id == "pods" || id == "podtemplates" || (!gone && !options.write.dry_run)) return call.reply(200, last.json());
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
  if (!policy.empty() && orphan != nullptr) {
    return refused_options("DeleteOptions",
                           fmt::format("propagationPolicy: Invalid value: \"{}\": orphanDependents and "
                                       "deletionPropagation cannot be both set",
                                       policy));
  }
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
    return refused_options("DeleteOptions",
                           fmt::format("propagationPolicy: Unsupported value: \"{}\": supported values: "
                                       "\"Foreground\", \"Background\", \"Orphan\", \"nil\"",
                                       policy));
  }
  options.propagation = policy;
  return options;
}

Result<http::Reply> handle_create(ApiCall& call) {
  RETURN_IF_ERROR(check_options(call, "CreateOptions"));
  ASSIGN_OR_RETURN(Json object, object_of(call));
  ASSIGN_OR_RETURN(const Object created,
                   call.registry.create(*call.resource, Object(std::move(object)), call.write_options()));
  return call.reply(201, created.json());
}

Result<http::Reply> handle_object(ApiCall& call) {
  const std::string& method = call.request.method;
  if (method == "GET") {
    const std::string version = call.query.get("resourceVersion");
    if (!is_version(version)) return invalid_version(version);
    ASSIGN_OR_RETURN(const Object found, call.registry.get(*call.resource, call.key()));
    return call.reply(200, found.json());
  }
  if (method == "PUT") return replace(call);
  if (method == "PATCH") return patch(call);
  if (method == "DELETE" && call.info.subresource.empty()) return remove(call);
  return method_not_allowed();
}

}  // namespace tpuslice::sim
