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
  add_top(app, commands);
  add_history(app, commands);
  add_ui(app, commands);
  add_hosts(app, commands);
  add_logs(app, commands);
  add_session(app, commands);
  add_create(app, commands);
  add_restart(app, commands);
  add_drain(app, commands);
  add_undrain(app, commands);
  add_check(app, commands);
  add_migrate(app, commands);
  add_report(app, commands);
  add_completion(app, commands);
  add_version(app, commands);
}

}  // namespace tpuslice::plugin
