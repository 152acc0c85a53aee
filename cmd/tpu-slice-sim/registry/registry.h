// Registry: the simulated API server below HTTP. The Kubernetes semantics of every write, for requests and for the
// simulated controllers (scheduler, kubelets, garbage collector).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/types/object.h"
#include "cmd/tpu-slice-sim/registry/ids.h"
#include "cmd/tpu-slice-sim/resources/resources.h"
#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

/// The user of a request, as admission sees it.
struct UserInfo {
  std::string name = "system:admin";
  std::vector<std::string> groups = {"system:masters"};
};

struct WriteOptions {
  UserInfo user;
  std::string field_manager;
  bool dry_run = false;
  std::string field_validation = "Warn";         ///< Strict, Warn or Ignore.
  std::vector<std::string>* warnings = nullptr;  ///< Collects `Warning:` headers.
};

/// Options of a controller of kube-controller-manager: user "system:serviceaccount:kube-system:<name>".
[[nodiscard]] WriteOptions as_controller(std::string_view name);

struct DeleteOptions {
  WriteOptions write;
  std::string uid;               ///< Precondition.
  std::string resource_version;  ///< Precondition.
  std::optional<std::int64_t> grace_seconds;
  std::string propagation = "Background";  ///< Background, Foreground or Orphan.
};

/// A create, update or delete under admission. `old_object` is null on create.
struct AdmissionRequest {
  std::string operation;  ///< CREATE, UPDATE, DELETE
  const Resource* resource = nullptr;
  std::string subresource;
  ObjectKey key;
  Json object;
  Json old_object;
  WriteOptions options;
};
/// Mutating admission: returns the object to write (on delete, the old object). Errors: Forbidden or Invalid with the
/// message for the client.
using Admission = std::function<Result<Json>(const AdmissionRequest& request)>;
/// Validating admission: called after validation of the object. Errors: the same.
using AdmissionCheck = std::function<Status(const AdmissionRequest& request)>;

/// A PATCH request.
struct Patch {
  std::string content_type;  ///< "application/merge-patch+json", ...
  Json body;
  bool force = false;  ///< Server-side apply takes over fields of other managers.
};

/// Thread-safe; call set_admission() before the first write. Holds no lock while admission runs.
class Registry {
 public:
  /// Creates the namespaces that every cluster has. `seed` determines uids and generated names.
  Registry(Storage& storage, const Clock& clock, std::uint64_t seed = 1);

  [[nodiscard]] Storage& storage() { return storage_; }
  [[nodiscard]] const Storage& storage() const { return storage_; }
  [[nodiscard]] Resources& resources() { return resources_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  /// Sets what admits objects; either argument may be empty.
  void set_admission(Admission admission, AdmissionCheck check = {}) {
    admission_ = std::move(admission);
    admission_check_ = std::move(check);
  }

  /// Errors of all writes have the Kubernetes reason and message.
  Result<Object> get(const Resource& resource, const ObjectKey& key) const;
  Result<Object> create(const Resource& resource, Object object, const WriteOptions& options = {});
  /// Replaces .spec and metadata, or only .status when `subresource` is "status". A resourceVersion in `object` is a
  /// precondition.
  Result<Object> update(const Resource& resource, Object object, std::string_view subresource = {},
                        const WriteOptions& options = {});
  /// Reads, changes and writes; retried on conflict unless `change` sets a resourceVersion. `change` may fail.
  Result<Object> modify(const Resource& resource, const ObjectKey& key, std::string_view subresource,
                        const std::function<Status(Json&)>& change, const WriteOptions& options = {});
  /// Retried on conflict unless the patch sets a resourceVersion. Server-side apply creates a missing object.
  Result<Object> patch(const Resource& resource, const ObjectKey& key, std::string_view subresource, const Patch& patch,
                       const WriteOptions& options = {});
  /// Starts or finishes a graceful deletion; finalizers delay it. Returns the last state.
  Result<Object> remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options = {});
  /// The objects in the version of `resource`, sorted by namespace, then name; an empty namespace means all.
  [[nodiscard]] std::vector<JsonPtr> list(const Resource& resource, std::string_view namespace_name = {}) const;

 private:
  struct Write;

  Status check_namespace(const Resource& resource, const Json& object) const;
  Result<Json> decode(const Resource& resource, Json object, const WriteOptions& options) const;
  static AdmissionRequest request_of(const Write& write, Json object);
  Result<Json> admit(const Write& write, Json object) const;
  Status check_admitted(const Write& write, const Json& object) const;
  Status validate(const Resource& resource, const Json& object, const Json* old) const;
  Result<Object> create_named(const Resource& resource, Json object, const WriteOptions& options);
  /// `asked`: as the client sent it.
  Result<JsonPtr> store_new_service(const Resource& resource, const ObjectKey& key, const Json& asked, Json service)
      TPUSLICE_EXCLUDES(services_mutex_);
  Result<Object> update_once(const Write& write, const Json& wanted);
  Result<Object> store(const Write& write, Json next);
  Result<Object> remove_once(const Resource& resource, const JsonPtr& current, const DeleteOptions& options);
  void mark_deleted(Json& metadata, std::int64_t grace, bool first) const;
  Result<Object> end_pod(const Resource& resource, const JsonPtr& current, Json marked);
  Result<Object> erase(const Resource& resource, const JsonPtr& current);
  Status remove_instances(const Json& crd);
  void finish_crd(const Resource& custom);

  Storage& storage_;
  const Clock& clock_;
  Resources resources_;
  Admission admission_;
  AdmissionCheck admission_check_;
  Ids ids_;
  Mutex services_mutex_;  ///< Held while a new service's addresses are compared with those stored, and stored.
};

}  // namespace tpuslice::sim
