// What changed between two documents of the schema tpuslice.dev/fleet.v1: what a page that follows a fleet is sent.
// Pure.
#pragma once

#include "api/types/json.h"

namespace tpuslice::plugin {

/// The members that `after` has otherwise than `before`; an empty object if they are equal:
///
///   {"time": "...", "cluster": {...}, "attention": [...],
///    "pools": {"set": {"KEY": {...}}, "removed": ["KEY"]}, "slices": {...}}
///
/// The key of a pool is "TOPOLOGY-KEY|NAME", of a slice "NAMESPACE/KIND/NAME/SLICE". The second object of the same key,
/// as in namespaces that the reader may not see, has "#2" behind it. fleet/page/model.js applies it.
[[nodiscard]] Json diff_fleets(const Json& before, const Json& after);

}  // namespace tpuslice::plugin
