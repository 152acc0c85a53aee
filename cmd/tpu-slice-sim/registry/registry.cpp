#include "cmd/tpu-slice-sim/registry/registry.h"

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/patch/patch.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"
#include "cmd/tpu-slice-sim/registry/object_checks.h"
#include "cmd/tpu-slice-sim/registry/registry_write.h"
#include "cmd/tpu-slice-sim/registry/service_addresses.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/resources/builtin_resources.h"
#include "cmd/tpu-slice-sim/resources/conversion.h"
#include "cmd/tpu-slice-sim/schema/builtin.h"
#include "cmd/tpu-slice-sim/schema/decode.h"
#include "cmd/tpu-slice-sim/schema/structural.h"

namespace tpuslice::sim {
namespace {

constexpr int kNameAttempts = 8;
constexpr std::size_t kMaxGeneratedPrefix = 58;

void warn(const WriteOptions& options, std::string text) {
  if (options.warnings != nullptr) options.warnings->push_back(std::move(text));
}

/// Clears fields that a client cannot set. Kinds without generations keep the given generation.
void clear_system_fields(Json& metadata) {
  for (const char* field :
       {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion"}) {
    metadata.erase(field);
  }
}

/// Empty lists and maps in metadata count as absent.
void drop_empty_lists(Json& object) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return;
  for (const char* field : {"finalizers", "ownerReferences", "labels", "annotations"}) {
    const auto found = metadata->find(field);
    if (found != metadata->end() && (found->is_null() || (found->is_structured() && found->empty()))) {
      metadata->erase(found);
    }
  }
}

/// Warns about finalizers without a domain.
void warn_of_finalizers(const Resource& resource, const Json& object, const WriteOptions& options) {
  if (!resource.custom) return;
  for (const Json& each : array_at(object, {"metadata", "finalizers"})) {
    const std::string text = each.is_string() ? each.get<std::string>() : std::string();
    if (text.find('/') != std::string::npos || text == "foregroundDeletion" || text == "orphan") continue;
    warn(options,
         fmt::format("metadata.finalizers: \"{}\": prefer a domain-qualified finalizer name to avoid accidental "
                     "conflicts with other finalizer writers",
                     text));
  }
}

/// Rules are not evaluated if the object has one of these field errors.
bool blocks_rules(const std::vector<FieldProblem>& problems) {
  return std::any_of(problems.begin(), problems.end(), [](const FieldProblem& problem) {
    for (const char* reason : {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany",
                               "FieldValueTypeInvalid"}) {
      if (problem.reason == reason) return true;
    }
    return false;
  });
}

std::vector<FieldProblem> unchecked_rules(const Json& schema) {
  if (!has_rules(schema)) return {};
  return {FieldProblem{"<nil>",
                       "Invalid value: null: some validation rules were not checked because the object was invalid; "
                       "correct the existing errors to complete validation",
                       "FieldValueInvalid"}};
}

}  // namespace

WriteOptions as_controller(std::string_view name) {
  WriteOptions options;
  options.user = {fmt::format("system:serviceaccount:kube-system:{}", name), {"system:authenticated"}};
  return options;
}

bool has_finalizers(const Json& object) {
  const Json* finalizers = find_path(object, {"metadata", "finalizers"});
  if (finalizers != nullptr && finalizers->is_array() && !finalizers->empty()) return true;
  if (string_at(object, {"kind"}) != "Namespace") return false;
  const Json* own = find_path(object, {"spec", "finalizers"});
  return own != nullptr && own->is_array() && !own->empty();
}

Registry::Registry(Storage& storage, const Clock& clock, std::uint64_t seed)
    : storage_(storage), clock_(clock), ids_(seed) {
  const ResourcePtr namespaces = resources_.find_id("namespaces");
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    if (storage_.get("namespaces", {"", name})) continue;
    const Json object = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
    TPUSLICE_CHECK(create(*namespaces, Object(object)).ok());
  }
}

Result<Object> Registry::get(const Resource& resource, const ObjectKey& key) const {
  const JsonPtr found = storage_.get(storage_id(resource), key);
  if (!found) return not_found(resource, key.name);
  return Object(*to_served(resource, found));
}

std::vector<JsonPtr> Registry::list(const Resource& resource, std::string_view namespace_name) const {
  std::vector<JsonPtr> all = storage_.list(storage_id(resource), namespace_name);
  for (JsonPtr& each : all) each = to_served(resource, each);
  return all;
}

Status Registry::check_namespace(const Resource& resource, const Json& object) const {
  const std::string name = string_at(object, {"metadata", "namespace"});
  if (!resource.namespaced) {
    if (name.empty()) return {};
    return bad_request(fmt::format("namespace \"{}\" must not be set on cluster-scoped {}", name, resource.id()));
  }
  if (name.empty()) return bad_request("an empty namespace may not be set during creation");
  const JsonPtr space = storage_.get("namespaces", {"", name});
  if (!space) return Error::not_found("namespaces \"{}\" not found", name).with_reason("NotFound");
  if (!string_at(*space, {"metadata", "deletionTimestamp"}).empty()) {
    return forbidden(resource, string_at(object, {"metadata", "name"}),
                     fmt::format("unable to create new content in namespace {} because it is being terminated", name));
  }
  return {};
}

/// Prunes unknown fields and applies defaults, as decoding a request body does.
Result<Json> Registry::decode(const Resource& resource, Json object, const WriteOptions& options) const {
  const Json& schema = resource.custom ? resource.schema : builtin_schema(resource);
  std::vector<std::string> unknown = prune(schema, object);
  for (std::string& each : prune_metadata(object)) unknown.push_back(std::move(each));
  for (std::string& each : unknown) each = fmt::format("unknown field \"{}\"", each);
  if (!unknown.empty() && options.field_validation == "Strict") {
    return undecodable(resource, fmt::format("strict decoding error: {}", fmt::join(unknown, ", ")));
  }
  if (options.field_validation == "Warn") {
    for (std::string& each : unknown) warn(options, std::move(each));
  }
  drop_empty_lists(object);
  if (resource.custom) {
    drop_nulls(schema, object);
    apply_defaults(schema, object);
  } else {
    default_builtin(resource, object);
  }
  return object;
}

AdmissionRequest Registry::request_of(const Write& write, Json object) {
  AdmissionRequest request;
  request.operation = std::string(write.operation);
  request.resource = &write.resource;
  request.subresource = std::string(write.subresource);
  request.key = key_of(object);
  request.object = std::move(object);
  if (write.current) request.old_object = *to_served(write.resource, write.current);
  request.options = write.options;
  return request;
}

Result<Json> Registry::admit(const Write& write, Json object) const {
  if (!admission_) return object;
  ASSIGN_OR_RETURN(Json admitted, admission_(request_of(write, std::move(object))));
  WriteOptions options = write.options;
  options.field_validation = "Ignore";
  return decode(write.resource, std::move(admitted), options);
}

Status Registry::check_admitted(const Write& write, const Json& object) const {
  return admission_check_ ? admission_check_(request_of(write, object)) : Status();
}

Status Registry::validate(const Resource& resource, const Json& object, const Json* old) const {
  std::vector<FieldProblem> problems =
      old == nullptr ? check_metadata(resource, object) : check_metadata_update(resource, object, *old);
  std::vector<FieldProblem> more;
  if (resource.custom) {
    more = tpuslice::sim::validate(resource.schema, object);
    if (old != nullptr && !more.empty()) {  // Ratcheting: field errors that the old object also has are ignored.
      const std::vector<FieldProblem> before = tpuslice::sim::validate(resource.schema, *old);
      std::erase_if(more, [&before](const FieldProblem& each) {
        return std::find(before.begin(), before.end(), each) != before.end();
      });
    }
    problems.insert(problems.end(), more.begin(), more.end());
    more = blocks_rules(problems) ? unchecked_rules(resource.schema) : validate_rules(resource.schema, object, old);
  } else {
    more = validate_builtin(resource, object, old);
    if (auto undecoded = decoding_problem(resource, more); undecoded) return *undecoded;
  }
  problems.insert(problems.end(), more.begin(), more.end());
  if (!problems.empty()) return invalid(resource, string_at(object, {"metadata", "name"}), problems);
  if (resource.id() != "customresourcedefinitions.apiextensions.k8s.io") return {};
  const Json* versions = find_path(object, {"spec", "versions"});
  for (std::size_t i = 0; versions != nullptr && versions->is_array() && i < versions->size(); ++i) {
    const Json* schema = find_path((*versions)[i], {"schema", "openAPIV3Schema"});
    if (schema == nullptr) continue;
    if (const Status checked = check_crd_schema(*schema); !checked) {
      const std::string& text = checked.error().message();
      const std::size_t colon = text.find(": ");
      // A single version is reported as spec.validation.
      const std::string where = versions->size() == 1 ? "spec.validation" : fmt::format("spec.versions[{}].schema", i);
      const std::string path = where + "." + text.substr(0, colon);
      return invalid(
          resource, string_at(object, {"metadata", "name"}),
          {FieldProblem{path, colon == std::string::npos ? "" : text.substr(colon + 2), "FieldValueInvalid"}});
    }
  }
  return {};
}

Result<Object> Registry::create(const Resource& resource, Object object, const WriteOptions& options) {
  Json json = std::move(object.mutable_json());
  RETURN_IF_ERROR(check_metadata_types(resource, json));
  if (!string_at(json, {"metadata", "resourceVersion"}).empty()) {
    return unreasoned(500, "resourceVersion should not be set on objects to be created");
  }
  clear_system_fields(json["metadata"]);
  const std::string prefix = string_at(json, {"metadata", "generateName"}).substr(0, kMaxGeneratedPrefix);
  const bool generated = string_at(json, {"metadata", "name"}).empty() && !prefix.empty();
  for (int attempt = 1;; ++attempt) {
    if (generated) json["metadata"]["name"] = prefix + ids_.suffix();
    Result<Object> created = create_named(resource, json, options);
    const bool taken = !created && created.error().code() == ErrorCode::kAlreadyExists;
    if (!generated || !taken || attempt == kNameAttempts) return created;
  }
}

Result<Object> Registry::create_named(const Resource& resource, Json object, const WriteOptions& options) {
  RETURN_IF_ERROR(check_namespace(resource, object));
  ASSIGN_OR_RETURN(object, decode(resource, std::move(object), options));
  const std::string now = format_rfc3339(clock_.wall());
  object["metadata"]["uid"] = ids_.uid();
  object["metadata"]["creationTimestamp"] = now;
  if (has_generation(resource)) object["metadata"]["generation"] = 1;
  const Write write{resource, "CREATE", {}, nullptr, options};
  const bool service = resource.id() == "services";
  const Json asked = service ? object : Json();
  RETURN_IF_ERROR(prepare_create(resource, object, {storage_, now}));
  ASSIGN_OR_RETURN(object, admit(write, std::move(object)));
  RETURN_IF_ERROR(validate(resource, object, nullptr));
  RETURN_IF_ERROR(check_admitted(write, object));
  warn_of_finalizers(resource, object, options);
  if (!object["metadata"].contains("managedFields")) {  // Server-side apply has set them already.
    object =
        update_managed_fields(resource, nullptr, std::move(object), options.field_manager, "Update", {}, clock_.wall());
  }
  const ObjectKey key = key_of(object);
  if (options.dry_run) {
    if (storage_.get(storage_id(resource), key)) return already_exists(resource, key.name);
    return Object(std::move(object));
  }
  if (resource.id() == "customresourcedefinitions.apiextensions.k8s.io") {
    if (storage_.get(storage_id(resource), key)) return already_exists(resource, key.name);
    RETURN_IF_ERROR(resources_.add_crd(object));
  }
  ASSIGN_OR_RETURN(const JsonPtr stored,
                   service ? store_new_service(resource, key, asked, std::move(object))
                           : storage_.create(storage_id(resource), key, to_stored(resource, std::move(object))));
  return Object(*to_served(resource, stored));
}

Result<JsonPtr> Registry::store_new_service(const Resource& resource, const ObjectKey& key, const Json& asked,
                                            Json service) {
  const MutexLock lock(services_mutex_);
  // The addresses were free before admission; another request may have got the same since.
  if (!assign_addresses(resource, service, storage_)) {
    restore_addresses(service, asked);
    RETURN_IF_ERROR(assign_addresses(resource, service, storage_));
  }
  return storage_.create(storage_id(resource), key, to_stored(resource, std::move(service)));
}

}  // namespace tpuslice::sim
