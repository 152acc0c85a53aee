// Between the form an object is stored in and the versions it is served in.
//
// Custom resources are stored as they were written and differ between versions in apiVersion only (conversion strategy
// None). Events of both API groups are one resource, stored as core/v1.
#pragma once

#include <string>

#include "api/sim/resources.h"
#include "api/sim/storage.h"

namespace tpuslice::sim {

/// Where the objects of a resource are in Storage; Resource::id() for all but events.
[[nodiscard]] std::string storage_id(const Resource& resource);
/// The same object when it is in the served form already.
[[nodiscard]] JsonPtr to_served(const Resource& resource, const JsonPtr& stored);
[[nodiscard]] ObjectKey key_of(const Json& object);
[[nodiscard]] Json to_stored(const Resource& resource, Json served);

}  // namespace tpuslice::sim
