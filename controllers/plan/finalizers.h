// Finalizers of an object: what holds it after its deletion. Patches that add or remove one.
#pragma once

#include <string_view>

#include "controllers/plan/plan.h"

namespace tpuslice::plan {

[[nodiscard]] bool has_finalizer(const Object& object, std::string_view finalizer);

/// Patches of an object that lacks, or has, the finalizer. A merge patch replaces the list, so they are a Conflict if
/// the object has changed since it was observed. Their failure reason is FailedFinalizer.
[[nodiscard]] Action add_finalizer(const ResourceType& type, const Object& object, std::string_view finalizer);
[[nodiscard]] Action remove_finalizer(const ResourceType& type, const Object& object, std::string_view finalizer);

}  // namespace tpuslice::plan
