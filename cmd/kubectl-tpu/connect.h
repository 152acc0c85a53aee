// The connection of kubectl-tpu to the API server of the user's kubeconfig.
#pragma once

#include "cmd/kubectl-tpu/context.h"

namespace tpuslice::plugin {

/// Connects as kubectl would: the kubeconfig, its credentials and plugins, the proxy. `clock` outlives the connection.
/// Errors: no kubeconfig, or one that cannot be used.
[[nodiscard]] Result<Connection> connect_to_cluster(const GlobalOptions& options, const Clock& clock,
                                                    const Logger& log);

}  // namespace tpuslice::plugin
