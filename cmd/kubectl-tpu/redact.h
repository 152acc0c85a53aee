// Removes from objects what a report must not contain. Pure.
#pragma once

#include "api/types/json.h"

namespace tpuslice::plugin {

/// The object without managedFields and last-applied-configuration; the values of environment variables, commands,
/// arguments and other annotations than those of Kubernetes, GKE and the kinds are replaced by "<redacted>". Variables
/// that the operator sets (TPU_*, MEGASCALE_*) keep their values. Pod templates, at any depth, are treated like pods.
[[nodiscard]] Json redacted(Json object);

}  // namespace tpuslice::plugin
