#include "cmd/kubectl-tpu/commands/commands.h"

namespace tpuslice::plugin {

// The order is that of --help.
void add_all_commands(CLI::App& app, Commands& commands) {
  add_status(app, commands);
  add_pools(app, commands);
  add_slices(app, commands);
  add_explain(app, commands);
  add_plan(app, commands);
  add_what_if(app, commands);
  add_history(app, commands);
  add_ui(app, commands);
  add_version(app, commands);
}

}  // namespace tpuslice::plugin
