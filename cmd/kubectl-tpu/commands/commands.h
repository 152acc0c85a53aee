// The commands of kubectl-tpu: each adds itself to the tree. commands.cpp lists them.
#pragma once

#include "cmd/kubectl-tpu/app.h"

namespace tpuslice::plugin {

void add_check(CLI::App& app, Commands& commands);
void add_completion(CLI::App& app, Commands& commands);
void add_create(CLI::App& app, Commands& commands);
void add_drain(CLI::App& app, Commands& commands);
void add_explain(CLI::App& app, Commands& commands);
void add_history(CLI::App& app, Commands& commands);
void add_hosts(CLI::App& app, Commands& commands);
void add_logs(CLI::App& app, Commands& commands);
void add_migrate(CLI::App& app, Commands& commands);
void add_plan(CLI::App& app, Commands& commands);
void add_pools(CLI::App& app, Commands& commands);
void add_report(CLI::App& app, Commands& commands);
void add_restart(CLI::App& app, Commands& commands);
void add_session(CLI::App& app, Commands& commands);
void add_slices(CLI::App& app, Commands& commands);
void add_status(CLI::App& app, Commands& commands);
void add_top(CLI::App& app, Commands& commands);
void add_ui(CLI::App& app, Commands& commands);
void add_undrain(CLI::App& app, Commands& commands);
void add_version(CLI::App& app, Commands& commands);
void add_what_if(CLI::App& app, Commands& commands);

}  // namespace tpuslice::plugin
