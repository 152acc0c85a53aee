// Rehearsal: what a manifest makes, found by applying it to a cluster in memory, in which this operator runs:
// admission, the controllers of all kinds, and of Kubernetes. No time passes, and nothing leaves the process.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "api/types/json.h"
#include "cmd/kubectl-tpu/context.h"
#include "cmd/kubectl-tpu/read_fleet.h"
#include "fleet/snapshot.h"

namespace tpuslice::plugin {

struct Rehearsed {
  std::vector<Json> created;  ///< All objects that were created for the manifest, beside its own.
  std::string refusal;        ///< Why admission or validation refuses an object; empty: all are accepted.
};

struct RehearsalOptions {
  std::string namespace_name = "default";            ///< Namespace of objects without one.
  std::string topology_key;                          ///< The operator's --topology-key; empty: its default.
  std::set<std::string, std::less<>> topology_keys;  ///< The operator's --topology-keys.
};

/// `documents`: the objects of the manifest. Every slice gets nodes of its own, so that all pods are created.
/// Errors: InvalidArgument for an object of an unknown kind.
[[nodiscard]] Result<Rehearsed> rehearse(const std::vector<Json>& documents, const RehearsalOptions& options);

/// The objects of the files, those of Lists one by one. Errors: NotFound; InvalidArgument with path and line, or if
/// there are none.
[[nodiscard]] Result<std::vector<Json>> read_manifests(const std::vector<std::string>& files);

/// The namespace of objects without one: that of --namespace, else of the context; "default" without a cluster. Errors:
/// no kubeconfig.
[[nodiscard]] Result<std::string> namespace_of_manifest(Context& context, const FleetSource& source);

}  // namespace tpuslice::plugin
