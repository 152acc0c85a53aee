// Shared by the files that implement Registry.
#pragma once

#include "api/sim/registry.h"

namespace tpuslice::sim {

/// One attempt to write an object that exists: what it replaces, and for whom.
struct Registry::Write {
  const Resource& resource;
  std::string_view operation;    ///< CREATE or UPDATE
  std::string_view subresource;  ///< "", "status", "finalize", ...
  JsonPtr current;               ///< As stored; null on create.
  const WriteOptions& options;
};

[[nodiscard]] Revision revision_of(const Json& object);

/// Whether something holds a deleted object back: its finalizers, or a Namespace's spec.finalizers.
[[nodiscard]] bool has_finalizers(const Json& object);

}  // namespace tpuslice::sim
