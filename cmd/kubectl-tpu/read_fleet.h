// Reads the snapshot of a fleet that the commands answer from: from the cluster, with the user's rights, or from a
// file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/kubectl-tpu/context.h"
#include "fleet/snapshot.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tpuslice::plugin {

/// The origin of a fleet.
struct FleetSource {
  std::string snapshot;            ///< File with a snapshot, or with a List of nodes; empty: the cluster.
  std::vector<std::string> pools;  ///< Further node pools, which do not exist: "v6e 4x4 x3".
};

/// Adds --snapshot.
void add_source_options(CLI::App& command, FleetSource& source);

struct ReadFleet {
  fleet::Snapshot snapshot;
  /// The first refusal, if nodes or pods of other namespaces cannot be read. Commands that need them return it.
  std::optional<Error> refusal;
  std::string assumed;                 ///< What is not known of the operator's options; empty if they are known.
  std::optional<Error> history_error;  ///< The history could not be read.
};

/// Errors: of the API server, except refusals; InvalidArgument for the file.
[[nodiscard]] Result<ReadFleet> read_fleet(Context& context, const FleetSource& source);

/// The same for a command that needs all nodes and pods. Notes what is assumed. Errors also: the refusal.
[[nodiscard]] Result<fleet::Snapshot> read_whole_fleet(Context& context, const FleetSource& source);

}  // namespace tpuslice::plugin
