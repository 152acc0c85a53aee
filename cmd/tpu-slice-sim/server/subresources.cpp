// The subresources scale, binding, eviction and log.
#include <fmt/format.h>

#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/patch/patch.h"
#include "cmd/tpu-slice-sim/registry/scale.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/server/api_call.h"

namespace tpuslice::sim {
namespace {

Result<http::Reply> scale_reply(const ApiCall& call, const Json& object) {
  ASSIGN_OR_RETURN(const Json scale, scale_of(*call.resource, object));
  return json_reply(200, scale.dump());
}

/// PUT replaces the Scale, PATCH changes the current one.
Result<http::Reply> write_scale(ApiCall& call) {
  ASSIGN_OR_RETURN(const Json body, call.body());
  const WriteOptions options = call.write_options();
  const auto change = [&](Json& object) -> Status {
    Json wanted = body;
    if (call.request.method == "PATCH") {
      ASSIGN_OR_RETURN(const Json current, scale_of(*call.resource, object));
      Resource as_scale;
      as_scale.group = "autoscaling";
      as_scale.version = "v1";
      as_scale.kind = "Scale";
      as_scale.plural = "scales";
      const PatchContext context{options.field_manager, false, call.registry.clock().wall(), {}};
      ASSIGN_OR_RETURN(wanted, apply_patch(as_scale, current, content_type(call.request.headers), body, context));
    }
    return set_scale(*call.resource, wanted, object);
  };
  ASSIGN_OR_RETURN(const Object written, call.registry.modify(*call.resource, call.key(), {}, change, options));
  return scale_reply(call, written.json());
}

Result<http::Reply> handle_scale(ApiCall& call) {
  if (call.request.method == "GET") {
    ASSIGN_OR_RETURN(const Object found, call.registry.get(*call.resource, call.key()));
    return scale_reply(call, found.json());
  }
  if (call.request.method == "PUT" || call.request.method == "PATCH") return write_scale(call);
  return method_not_allowed();
}

Json success(int code) {
  return {
      {"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}, {"status", "Success"}, {"code", code}};
}

Result<http::Reply> handle_binding(ApiCall& call) {
  ASSIGN_OR_RETURN(const Json body, call.body());
  const std::string node = string_at(body, {"target", "name"});
  RETURN_IF_ERROR(
      bind_pod(call.registry, call.key(), node, string_at(body, {"metadata", "uid"}), call.write_options()));
  return json_reply(201, success(201).dump());
}

/// Sets the condition by which a podFailurePolicy ignores the eviction, if the preconditions hold, and replaces the
/// resourceVersion of `options`.
Status mark_evicted(ApiCall& call, DeleteOptions& options) {
  bool same = false;
  const auto change = [&](Json& pod) -> Status {
    const Json& metadata = pod.at("metadata");
    same = (options.uid.empty() || options.uid == string_at(metadata, {"uid"})) &&
           (options.resource_version.empty() || options.resource_version == string_at(metadata, {"resourceVersion"}));
    if (!same) return {};
    set_condition(pod["status"], {"DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting"},
                  call.registry.clock().wall());
    return {};
  };
  ASSIGN_OR_RETURN(const Object marked,
                   call.registry.modify(*call.resource, call.key(), "status", change, options.write));
  if (same && !options.resource_version.empty()) {
    options.resource_version = string_at(marked.json(), {"metadata", "resourceVersion"});
  }
  return {};
}

Result<http::Reply> handle_eviction(ApiCall& call) {
  ASSIGN_OR_RETURN(const Json body, call.body());
  DeleteOptions options;
  options.write = call.write_options();
  options.uid = string_at(body, {"deleteOptions", "preconditions", "uid"});
  options.resource_version = string_at(body, {"deleteOptions", "preconditions", "resourceVersion"});
  const Json* grace = find_path(body, {"deleteOptions", "gracePeriodSeconds"});
  if (grace != nullptr && grace->is_number_integer()) options.grace_seconds = grace->get<std::int64_t>();
  const Json* dry = find_path(body, {"deleteOptions", "dryRun"});
  if (dry != nullptr && dry->is_array() && !dry->empty()) options.write.dry_run = true;
  if (!options.write.dry_run) RETURN_IF_ERROR(mark_evicted(call, options));
  ASSIGN_OR_RETURN(const Object last, call.registry.remove(*call.resource, call.key(), options));
  return json_reply(201, success(201).dump());
}

/// Simulated containers have empty logs.
Result<http::Reply> handle_log(ApiCall& call) {
  ASSIGN_OR_RETURN(const Object pod, call.registry.get(*call.resource, call.key()));
  http::Reply reply;
  reply.response.status = 200;
  reply.response.headers = {{"Content-Type", "text/plain"}};
  return reply;
}

}  // namespace

Result<http::Reply> handle_subresource(ApiCall& call) {
  const std::string& part = call.info.subresource;
  const std::string& method = call.request.method;
  if (part == "scale" && call.resource->scale) return handle_scale(call);
  if (call.resource->id() == "pods") {
    if (part == "binding" && method == "POST") return handle_binding(call);
    if (part == "eviction" && method == "POST") return handle_eviction(call);
    if (part == "log" && method == "GET") return handle_log(call);
  }
  return no_such_resource();
}

}  // namespace tpuslice::sim
