// What a tenant may store: objects of all kinds that the operator watches, as large as API servers accept.
#pragma once

#include <string>
#include <vector>

#include "api/types/object.h"

namespace tpuslice::testing {

struct StoredObject {
  ResourceType type;
  Object object;
};

/// Custom resources of 900 KB, five kinds; services, service accounts and volume claims of 200 KB; suspended Jobs with
/// 16 KiB of annotations that views keep and 100 labels; `count` of each.
[[nodiscard]] std::vector<StoredObject> objects_of_a_tenant(const std::string& namespace_name, int count);
/// A JobSet as users write it.
[[nodiscard]] Object a_small_jobset(const std::string& namespace_name, const std::string& name);

inline constexpr ResourceType kStoredJobSets{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};

}  // namespace tpuslice::testing
