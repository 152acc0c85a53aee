// SeedObjects: valid objects that attacks mutate: those of deploy/samples, a pod of each workload kind, with the
// smallest and with the largest slice, and objects that cost little when they are stored.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/base/result.h"
#include "api/types/json.h"
#include "api/types/resource_type.h"

namespace tpuslice::testing {

struct SeedObject {
  std::string name;  ///< "pod-job/largest", "jobset-maxtext-v5p-2x2x4/JobSet".
  ResourceType type;
  Json json;         ///< Without a namespace.
  bool idle = true;  ///< No controller makes objects for it.
};

/// Of a kind that a user may create in a namespace. Aborts for another kind.
[[nodiscard]] const ResourceType& type_of_kind(const std::string& kind);
/// Kinds of SeedObjects.
[[nodiscard]] const std::vector<ResourceType>& attacked_types();

class SeedObjects {
 public:
  /// Reads deploy/samples. Errors: of its files.
  static Result<SeedObjects> read();

  [[nodiscard]] const std::vector<SeedObject>& all() const { return objects_; }
  /// Errors: NotFound.
  [[nodiscard]] Result<const SeedObject*> find(const std::string& name) const;

 private:
  void add(const std::string& name, Json json, bool idle);
  Status add_samples();
  void add_pods();
  void add_idle();

  std::vector<SeedObject> objects_;
};

}  // namespace tpuslice::testing
