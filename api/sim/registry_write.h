// Shared by the files that implement Registry.
#pragma once

#include "api/sim/registry.h"

namespace tpuslice::sim {

/// How often a write is tried again that lost a race: more than any number of writers that race in one process.
constexpr int kAttempts = 100;

/// One attempt to write an object that exists: what it replaces, and for whom.
struct Registry::Write {
  const Resource& resource;
  std::string_view operation;    ///< CREATE or UPDATE
  std::string_view subresource;  ///< "", "status", "finalize", ...
  JsonPtr current;               ///< As stored; null on create.
  const WriteOptions& options;
};

/// Whether something holds a deleted object back: its finalizers, or a Namespace's spec.finalizers.
[[nodiscard]] bool has_finalizers(const Json& object);

}  // namespace tpuslice::sim
