// What the objects of an installed operator say of it: version, replicas, options, and whether there is a cluster
// autoscaler. Each may be missing: the user may have no rights to read it.
#pragma once

#include "cmd/kubectl-tpu/context.h"
#include "cmd/kubectl-tpu/read_fleet.h"
#include "fleet/snapshot.h"

namespace tpuslice::plugin {

/// Namespace of the operator in all manifests of this project.
inline constexpr std::string_view kOperatorNamespace = "tpu-slice-system";

/// Sets version, replicas and options from the Deployment. False if not all options are known: those of a
/// configuration file are not read.
bool read_deployment(const Json& deployment, fleet::Snapshot& out);

/// Sets what can be read: the Deployment, the records of preemptions, the status of the cluster autoscaler, versions,
/// the history; and what could not.
void read_operator(Context& context, client::Client& api, ReadFleet& out);

/// Appends the history of interruptions, which the operator keeps in ConfigMaps of its namespace, to that of the
/// snapshot. Errors: of the API server, such as Forbidden; none if there is no history.
[[nodiscard]] Status read_history(client::Client& api, const std::stop_token& stop, fleet::Snapshot& out);

}  // namespace tpuslice::plugin
