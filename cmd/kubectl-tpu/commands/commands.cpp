#include "cmd/kubectl-tpu/commands/commands.h"

namespace tpuslice::plugin {

// The order is that of --help.
void add_all_commands(CLI::App& app, Commands& commands) { add_version(app, commands); }

}  // namespace tpuslice::plugin
