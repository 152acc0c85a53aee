// Resources: the built-in resources that the simulated API server serves, and those of its CRDs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/mutex.h"
#include "api/types/json.h"

namespace tpuslice::sim {

struct PrinterColumn {
  std::string name;
  std::string type;  ///< string, integer, number, boolean, date
  std::string json_path;
  std::string description;
  int priority = 0;
};

struct ScalePaths {
  std::string spec_replicas;  ///< ".spec.replicas"
  std::string status_replicas;
  std::string selector;  ///< May be empty.
};

/// One served resource in one version. Immutable once registered.
struct Resource {
  std::string group;
  std::string version;
  std::string kind;
  std::string list_kind;
  std::string plural;
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool namespaced = true;
  bool custom = false;      ///< From a CRD: structural schema below, JSON merge patch only.
  bool has_status = false;  ///< /status subresource.
  std::optional<ScalePaths> scale;
  std::vector<PrinterColumn> columns;  ///< CRD additionalPrinterColumns.
  Json schema;                         ///< openAPIV3Schema; null for built-in resources.

  [[nodiscard]] std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  /// "pods", "rayclusters.ray.io": the key in Storage.
  [[nodiscard]] std::string id() const { return group.empty() ? plural : plural + "." + group; }
};

using ResourcePtr = std::shared_ptr<const Resource>;

/// Thread-safe.
class Resources {
 public:
  /// Starts with the built-in resources.
  Resources();

  [[nodiscard]] ResourcePtr find(std::string_view group, std::string_view version, std::string_view plural) const;
  [[nodiscard]] ResourcePtr find_kind(std::string_view api_version, std::string_view kind) const;
  /// The resource with this ResourceType::resource(), any served version.
  [[nodiscard]] ResourcePtr find_id(std::string_view id) const;
  [[nodiscard]] std::vector<ResourcePtr> list() const;

  /// Serves (or replaces) the versions of a CustomResourceDefinition. Errors: Invalid with field path.
  Status add_crd(const Json& crd);
  void remove_crd(const Json& crd);

 private:
  mutable Mutex mutex_;
  std::map<std::string, ResourcePtr, std::less<>> resources_ TPUSLICE_GUARDED_BY(mutex_);  ///< group/version/plural
};

}  // namespace tpuslice::sim
