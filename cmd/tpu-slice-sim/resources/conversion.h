// Conversion between the stored form of an object and the versions it is served in.
//
// Custom resources are stored as they were written and differ between versions in apiVersion only (conversion strategy
// None). Events of both API groups are one resource, stored as core/v1.
#pragma once

#include <string>

#include "cmd/tpu-slice-sim/resources/resources.h"
#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

/// The resource name of an object in Storage: Resource::id(), except for events.
[[nodiscard]] std::string storage_id(const Resource& resource);
/// Returns the same object if it already has the served form.
[[nodiscard]] JsonPtr to_served(const Resource& resource, const JsonPtr& stored);
[[nodiscard]] ObjectKey key_of(const Json& object);
[[nodiscard]] Json to_stored(const Resource& resource, Json served);

}  // namespace tpuslice::sim
