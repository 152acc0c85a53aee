#include "controllers/raycluster/observed.h"

#include <algorithm>

namespace tpuslice::raycluster {

const ObjectView* ObservedChildren::find(const ResourceType& type, const ObjectKey& key) const {
  const auto found =
      std::ranges::find_if(objects, [&](const Child& child) { return child.type == type && child.object->key == key; });
  return found == objects.end() ? nullptr : found->object.get();
}

bool ObservedChildren::watches(const ResourceType& type) const {
  return std::ranges::find(unwatched, type) == unwatched.end();
}

}  // namespace tpuslice::raycluster
