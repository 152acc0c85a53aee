// Registry: deletion: grace period, finalizers, removal.
#include <fmt/format.h>

#include "cmd/tpu-slice-sim/registry/kinds.h"
#include "cmd/tpu-slice-sim/registry/registry.h"
#include "cmd/tpu-slice-sim/registry/registry_write.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/resources/conversion.h"

namespace tpuslice::sim {
namespace {

constexpr std::string_view kCrds = "customresourcedefinitions.apiextensions.k8s.io";
constexpr const char* kCrdFinalizer = "customresourcecleanup.apiextensions.k8s.io";

Status check_preconditions(const Resource& resource, const Json& current, const DeleteOptions& options) {
  const std::string name = string_at(current, {"metadata", "name"});
  const std::string uid = string_at(current, {"metadata", "uid"});
  Resource named = resource;  // This message has the kind, others the resource.
  named.plural = resource.kind;
  if (!options.uid.empty() && options.uid != uid) {
    return conflict(
        named, name,
        fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). The object might "
                    "have been deleted and then recreated",
                    options.uid, uid));
  }
  const std::string version = string_at(current, {"metadata", "resourceVersion"});
  if (!options.resource_version.empty() && options.resource_version != version) {
    return conflict(
        named, name,
        fmt::format("the ResourceVersion in the precondition ({}) does not match the ResourceVersion in record "
                    "({}). The object might have been modified",
                    options.resource_version, version));
  }
  return {};
}

/// Namespaces that the plugin NamespaceLifecycle protects.
Status check_immortal(const Resource& resource, const std::string& name) {
  if (resource.id() != "namespaces") return {};
  for (const char* each : {"default", "kube-system", "kube-public"}) {
    if (name == each) return forbidden(resource, name, "this namespace may not be deleted");
  }
  return {};
}

/// Only bound pods have a grace period.
std::int64_t grace_of(const Resource& resource, const Json& object, const DeleteOptions& options) {
  if (resource.id() != "pods" || pod_finished(object)) return 0;
  if (string_at(object, {"spec", "nodeName"}).empty()) return 0;
  if (options.grace_seconds) return *options.grace_seconds < 0 ? 1 : *options.grace_seconds;
  return int_at(object, {"spec", "terminationGracePeriodSeconds"}, 30);
}

/// The garbage collector acts on these two finalizers; one policy replaces the other.
void set_propagation(Json& metadata, std::string_view propagation) {
  Json kept = Json::array();
  if (const Json* had = find_path(metadata, {"finalizers"}); had != nullptr && had->is_array()) {
    for (const Json& each : *had) {
      if (each != "foregroundDeletion" && each != "orphan") kept.push_back(each);
    }
  }
  if (propagation == "Foreground") kept.push_back("foregroundDeletion");
  if (propagation == "Orphan") kept.push_back("orphan");
  if (kept.empty()) {
    metadata.erase("finalizers");
  } else {
    metadata["finalizers"] = std::move(kept);
  }
}

void add_crd_finalizer(Json& crd, const std::string& now) {
  Json& finalizers = crd["metadata"]["finalizers"];
  if (!finalizers.is_array()) finalizers = Json::array();
  if (std::find(finalizers.begin(), finalizers.end(), kCrdFinalizer) == finalizers.end()) {
    finalizers.push_back(kCrdFinalizer);
  }
  crd["status"]["conditions"].push_back({{"type", "Terminating"},
                                         {"status", "True"},
                                         {"reason", "InstanceDeletionInProgress"},
                                         {"message", "CustomResource deletion is in progress"},
                                         {"lastTransitionTime", now}});
}

}  // namespace

Result<Object> Registry::remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options) {
  for (int attempt = 1;; ++attempt) {
    const JsonPtr current = storage_.get(storage_id(resource), key);
    if (!current) return not_found(resource, key.name);
    RETURN_IF_ERROR(check_immortal(resource, key.name));
    RETURN_IF_ERROR(check_preconditions(resource, *current, options));
    if (admission_ || admission_check_) {
      AdmissionRequest request;
      request.operation = "DELETE";
      request.resource = &resource;
      request.key = key;
      request.old_object = *to_served(resource, current);
      request.options = options.write;
      if (const Result<Json> admitted = admission_ ? admission_(request) : Json(); !admitted) return admitted.error();
      if (admission_check_) RETURN_IF_ERROR(admission_check_(request));
    }
    Result<Object> removed = remove_once(resource, current, options);
    const bool raced = !removed && removed.error().code() == ErrorCode::kConflict;
    if (!raced || attempt == kAttempts) return removed;
  }
}

Result<Object> Registry::remove_once(const Resource& resource, const JsonPtr& current, const DeleteOptions& options) {
  Json next = *current;
  Json& metadata = next["metadata"];
  set_propagation(metadata, options.propagation);
  const bool deleting = !string_at(metadata, {"deletionTimestamp"}).empty();
  std::int64_t grace = grace_of(resource, next, options);
  if (deleting) {
    // The grace period can only become shorter.
    grace = std::min(grace, int_at(metadata, {"deletionGracePeriodSeconds"}));
    if (!options.grace_seconds && resource.id() == "pods") grace = int_at(metadata, {"deletionGracePeriodSeconds"});
  }
  const bool has_instances = resource.id() == kCrds && !deleting;
  if (grace == 0 && !has_finalizers(next) && !has_instances) {
    const bool pod = resource.id() == "pods";
    if (pod && int_at(metadata, {"deletionGracePeriodSeconds"}, -1) != 0) mark_deleted(metadata, 0, !deleting);
    if (options.write.dry_run) return Object(*to_served(resource, std::make_shared<const Json>(std::move(next))));
    if (!pod || next == *current) return erase(resource, current);
    return end_pod(resource, current, std::move(next));
  }
  const bool hastened = deleting && grace < int_at(metadata, {"deletionGracePeriodSeconds"});
  if (!deleting || hastened) mark_deleted(metadata, grace, !deleting);
  if (resource.id() == "namespaces") {
    next["status"]["phase"] = "Terminating";
    metadata.erase("deletionGracePeriodSeconds");
  }
  if (has_instances) add_crd_finalizer(next, format_rfc3339(clock_.wall()));
  if (next == *current || options.write.dry_run) {
    return Object(*to_served(resource, std::make_shared<const Json>(std::move(next))));
  }
  const ObjectKey key = key_of(next);
  ASSIGN_OR_RETURN(const JsonPtr stored,
                   storage_.update(storage_id(resource), key, std::move(next), revision_of(*current)));
  if (has_instances) {
    RETURN_IF_ERROR(remove_instances(*stored));
  }
  return Object(*to_served(resource, stored));
}

void Registry::mark_deleted(Json& metadata, std::int64_t grace, bool first) const {
  metadata["deletionTimestamp"] = format_rfc3339(clock_.wall() + std::chrono::seconds(grace));
  metadata["deletionGracePeriodSeconds"] = grace;
  const std::int64_t generation = int_at(metadata, {"generation"});
  if (first && generation > 0) metadata["generation"] = generation + 1;
}

/// A pod gets a deletion timestamp before it is removed, so that watches see it. The response has that state.
Result<Object> Registry::end_pod(const Resource& resource, const JsonPtr& current, Json marked) {
  const ObjectKey key = key_of(marked);
  Result<JsonPtr> stored = storage_.update(storage_id(resource), key, std::move(marked), revision_of(*current));
  if (!stored) return stored.error().code() == ErrorCode::kConflict ? stale(resource, key.name) : stored.error();
  // The kubelet or another client may have removed it meanwhile, which is the requested result.
  for (JsonPtr last = *stored; last != nullptr; last = storage_.get(storage_id(resource), key)) {
    if (string_at(*last, {"metadata", "uid"}) != string_at(**stored, {"metadata", "uid"})) break;
    const Result<Object> gone = erase(resource, last);
    if (gone || gone.error().code() != ErrorCode::kConflict) break;
  }
  return Object(*to_served(resource, *stored));
}

Result<Object> Registry::erase(const Resource& resource, const JsonPtr& current) {
  const ObjectKey key = key_of(*current);
  Result<JsonPtr> removed = storage_.remove(storage_id(resource), key, revision_of(*current));
  if (!removed && removed.error().code() == ErrorCode::kConflict) return stale(resource, key.name);
  if (!removed) return not_found(resource, key.name);
  if (resource.id() == kCrds) resources_.remove_crd(**removed);
  if (resource.custom) finish_crd(resource);
  return Object(*to_served(resource, *removed));
}

Status Registry::remove_instances(const Json& crd) {
  const std::string id = string_at(crd, {"spec", "names", "plural"}) + "." + string_at(crd, {"spec", "group"});
  const ResourcePtr custom = resources_.find_id(id);
  const ResourcePtr crds = resources_.find_id(kCrds);
  if (custom) {
    for (const JsonPtr& each : storage_.list(id)) {
      const Result<Object> removed = remove(*custom, key_of(*each));
      if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed.error();
    }
    finish_crd(*custom);
    return {};
  }
  const JsonPtr current = storage_.get(kCrds, {"", id});
  return current ? (erase(*crds, current).ok() ? Status() : Status(stale(*crds, id))) : Status();
}

/// Removes a terminating CRD after its last object.
void Registry::finish_crd(const Resource& custom) {
  const std::string id = custom.id();
  const ResourcePtr crds = resources_.find_id(kCrds);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const JsonPtr crd = storage_.get(kCrds, {"", id});
    if (!crd || string_at(*crd, {"metadata", "deletionTimestamp"}).empty() || !storage_.list(id).empty()) return;
    Json next = *crd;
    Json& finalizers = next["metadata"]["finalizers"];
    if (!finalizers.is_array()) return;
    finalizers.erase(std::remove(finalizers.begin(), finalizers.end(), Json(kCrdFinalizer)), finalizers.end());
    if (finalizers.empty()) {
      if (erase(*crds, crd)) return;
    } else if (storage_.update(kCrds, {"", id}, std::move(next), revision_of(*crd))) {
      return;
    }
  }
}

}  // namespace tpuslice::sim
