// Registry: updates and patches.
#include <fmt/format.h>

#include "cmd/tpu-slice-sim/patch/patch.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"
#include "cmd/tpu-slice-sim/registry/object_checks.h"
#include "cmd/tpu-slice-sim/registry/registry.h"
#include "cmd/tpu-slice-sim/registry/registry_write.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/resources/builtin_resources.h"
#include "cmd/tpu-slice-sim/resources/conversion.h"
#include "cmd/tpu-slice-sim/schema/decode.h"

namespace tpuslice::sim {
namespace {

void copy_or_erase(Json& to, const Json& from, const char* field) {
  if (from.contains(field)) {
    to[field] = from.at(field);
  } else {
    to.erase(field);
  }
}

/// Restores fields that an update cannot change.
void restore_system_fields(Json& metadata, const Json& old) {
  for (const char* field : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds", "generation", "selfLink", "generateName"}) {
    copy_or_erase(metadata, old, field);
  }
}

/// The object without metadata, status and type.
Json meaning(Json object) {
  for (const char* field : {"metadata", "status", "apiVersion", "kind"}) object.erase(field);
  return object;
}

/// The updated object: an update of a subresource changes only its part.
Json merge_subresource(const Resource& resource, std::string_view subresource, const Json& current, Json wanted) {
  if (subresource == "status") {
    Json next = current;
    copy_or_erase(next, wanted, "status");
    if (resource.custom) {
      copy_or_erase(next["metadata"], wanted["metadata"], "managedFields");
    } else {
      next["metadata"] = wanted["metadata"];
    }
    return next;
  }
  if (subresource == "finalize") {
    Json next = current;
    Json& finalizers = next["spec"]["finalizers"];
    const Json* asked = find_path(wanted, {"spec", "finalizers"});
    finalizers = asked == nullptr ? Json::array() : *asked;
    return next;
  }
  // A binding writes spec.nodeName and the status together.
  if (resource.has_status && subresource != "binding") copy_or_erase(wanted, current, "status");
  return wanted;
}

bool same_but_bookkeeping(const Json& a, const Json& b) {
  const auto bare = [](Json json) {
    json["metadata"].erase("resourceVersion");
    json["metadata"].erase("managedFields");
    return json;
  };
  return bare(a) == bare(b);
}

/// Whether the field owners are the same; timestamps alone do not cause a write.
bool same_owners(const Json& a, const Json& b) {
  const auto owners = [](const Json& json) {
    Json entries = Json::array();
    const Json* fields = find_path(json, {"metadata", "managedFields"});
    if (fields == nullptr || !fields->is_array()) return entries;
    entries = *fields;
    for (Json& each : entries) each.erase("time");
    return entries;
  };
  return owners(a) == owners(b);
}

Status check_preconditions(const Resource& resource, const Json& current, const Json& wanted) {
  const std::string name = string_at(current, {"metadata", "name"});
  const std::string uid = string_at(wanted, {"metadata", "uid"});
  if (!uid.empty() && uid != string_at(current, {"metadata", "uid"})) return other_uid(resource, current, uid);
  const std::string version = string_at(wanted, {"metadata", "resourceVersion"});
  if (!version.empty() && version != string_at(current, {"metadata", "resourceVersion"})) return stale(resource, name);
  return {};
}

/// The error for a patched object that cannot be decoded.
Error of_patch(const Error& error, const Json& after) {
  constexpr std::string_view kMark = " cannot be handled as a ";
  const std::size_t mark = error.message().find(kMark);
  if (error.code() != ErrorCode::kInvalidArgument || mark == std::string::npos) return error;
  const std::string why = error.message().substr(error.message().find(": ", mark) + 2);
  return Error::of(ErrorCode::kInvalid, " \"\" is invalid: patch: Invalid value: {}: {}", Json(after.dump()).dump(),
                   why)
      .with_reason("Invalid");
}

/// Refuses a patch that changes kind, apiVersion, name or namespace.
Status check_patched(const Resource& resource, const Json& before, const Json& after) {
  const std::string kind = string_at(after, {"kind"}, resource.kind);
  const std::string version = string_at(after, {"apiVersion"}, resource.api_version());
  if (kind != resource.kind || version != resource.api_version()) {
    return of_patch(undecodable(resource, fmt::format("it is a {} of {}", kind, version)), after);
  }
  const std::string uid = string_at(after, {"metadata", "uid"});
  if (before.is_null() || uid == string_at(before, {"metadata", "uid"}) || uid.empty()) return {};
  return invalid(resource, string_at(before, {"metadata", "name"}),
                 {FieldProblem{"metadata.uid", fmt::format("Invalid value: \"{}\": field is immutable", uid),
                               "FieldValueInvalid"}});
}

}  // namespace

Result<Object> Registry::store(const Write& write, Json next) {
  const Resource& resource = write.resource;
  const ObjectKey key = key_of(next);
  const Json& current = *write.current;
  if (write.options.dry_run) return Object(std::move(next));
  const bool ends = !string_at(next, {"metadata", "deletionTimestamp"}).empty() && !has_finalizers(next) &&
                    int_at(next, {"metadata", "deletionGracePeriodSeconds"}) == 0;
  if (ends) {
    // The response is the object that would have been written.
    Result<Object> gone = erase(resource, write.current);
    return gone ? Result<Object>(Object(std::move(next))) : gone;
  }
  if (resource.id() == "customresourcedefinitions.apiextensions.k8s.io") RETURN_IF_ERROR(resources_.add_crd(next));
  Result<JsonPtr> stored =
      storage_.update(storage_id(resource), key, to_stored(resource, std::move(next)), revision_of(current));
  if (!stored && stored.error().code() == ErrorCode::kNotFound) return not_found(resource, key.name);
  if (!stored && stored.error().code() == ErrorCode::kConflict) return stale(resource, key.name);
  if (!stored) return stored.error();
  return Object(*to_served(resource, *stored));
}

Result<Object> Registry::update_once(const Write& write, const Json& wanted) {
  const Resource& resource = write.resource;
  const Json current = *to_served(resource, write.current);
  RETURN_IF_ERROR(check_preconditions(resource, current, wanted));
  Json next = wanted;
  next["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"];
  restore_system_fields(next["metadata"], current["metadata"]);
  next = merge_subresource(resource, write.subresource, current, std::move(next));
  ASSIGN_OR_RETURN(next, decode(resource, std::move(next), write.options));
  if (write.subresource.empty())
    RETURN_IF_ERROR(prepare_update(resource, next, current, {storage_, format_rfc3339(clock_.wall())}));
  ASSIGN_OR_RETURN(next, admit(write, std::move(next)));
  restore_system_fields(next["metadata"], current["metadata"]);
  if (!write.subresource.empty() && write.subresource != "binding")
    next = merge_subresource(resource, write.subresource, current, std::move(next));
  if (has_generation(resource) && write.subresource != "binding" && meaning(next) != meaning(current)) {
    next["metadata"]["generation"] = int_at(current, {"metadata", "generation"}) + 1;
  }
  // spec.nodeName changes only through a binding.
  if (write.subresource != "binding") RETURN_IF_ERROR(validate(resource, next, &current));
  RETURN_IF_ERROR(check_admitted(write, next));
  if (!next["metadata"].contains("managedFields"))
    copy_or_erase(next["metadata"], current["metadata"], "managedFields");
  if (same_owners(next, current)) {  // Server-side apply has recorded its fields already.
    next = update_managed_fields(resource, current, std::move(next), write.options.field_manager, "Update",
                                 write.subresource, clock_.wall());
  }
  if (same_but_bookkeeping(next, current) && same_owners(next, current)) return Object(current);
  return store(write, std::move(next));
}

Result<Object> Registry::update(const Resource& resource, Object object, std::string_view subresource,
                                const WriteOptions& options) {
  const Json wanted = std::move(object.mutable_json());
  RETURN_IF_ERROR(check_metadata_types(resource, wanted));
  const ObjectKey key = key_of(wanted);
  const bool pinned = !string_at(wanted, {"metadata", "resourceVersion"}).empty();
  for (int attempt = 1;; ++attempt) {
    const JsonPtr current = storage_.get(storage_id(resource), key);
    if (!current) return not_found(resource, key.name);
    Result<Object> written = update_once({resource, "UPDATE", subresource, current, options}, wanted);
    const bool raced = !written && written.error().code() == ErrorCode::kConflict;
    if (!raced || pinned || attempt == kAttempts) return written;
  }
}

Result<Object> Registry::modify(const Resource& resource, const ObjectKey& key, std::string_view subresource,
                                const std::function<Status(Json&)>& change, const WriteOptions& options) {
  for (int attempt = 1;; ++attempt) {
    ASSIGN_OR_RETURN(Object current, get(resource, key));
    const std::string version = current.resource_version();
    RETURN_IF_ERROR(change(current.mutable_json()));
    const bool pinned = current.resource_version() != version;
    Result<Object> written = update(resource, std::move(current), subresource, options);
    const bool raced = !written && written.error().code() == ErrorCode::kConflict;
    if (!raced || pinned || attempt == kAttempts) return written;
  }
}

Result<Object> Registry::patch(const Resource& resource, const ObjectKey& key, std::string_view subresource,
                               const Patch& patch, const WriteOptions& options) {
  const bool applies = patch.content_type == "application/apply-patch+yaml";
  const PatchContext context{options.field_manager, patch.force, clock_.wall(), std::string(subresource)};
  for (int attempt = 1;; ++attempt) {
    Json before;
    if (const JsonPtr current = storage_.get(storage_id(resource), key); current) {
      before = *to_served(resource, current);
    } else if (!applies || !subresource.empty()) {
      return not_found(resource, key.name);
    }
    ASSIGN_OR_RETURN(Json after, apply_patch(resource, before, patch.content_type, patch.body, context));
    RETURN_IF_ERROR(check_patched(resource, before, after));
    Result<Object> written = before.is_null() ? create(resource, Object(after), options)
                                              : update(resource, Object(after), subresource, options);
    if (!written && !applies) written = of_patch(written.error(), after);
    const bool asks_version = before.is_null() || string_at(after, {"metadata", "resourceVersion"}) !=
                                                      string_at(before, {"metadata", "resourceVersion"});
    const bool raced = !written && (written.error().code() == ErrorCode::kConflict ||
                                    (before.is_null() && written.error().code() == ErrorCode::kAlreadyExists));
    if (!raced || (asks_version && !before.is_null()) || attempt == kAttempts) return written;
  }
}

}  // namespace tpuslice::sim
