// Declarations shared by the implementation files of Registry.
#pragma once

#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

/// Attempts of a write that conflicts: more than there are concurrent writers in one process.
constexpr int kAttempts = 100;

/// One write of an object and the stored object it replaces.
struct Registry::Write {
  const Resource& resource;
  std::string_view operation;    ///< CREATE or UPDATE
  std::string_view subresource;  ///< "", "status", "finalize", ...
  JsonPtr current;               ///< The object as stored; null on create.
  const WriteOptions& options;
};

/// Whether the object has finalizers; for a Namespace, also spec.finalizers.
[[nodiscard]] bool has_finalizers(const Json& object);

}  // namespace tpuslice::sim
