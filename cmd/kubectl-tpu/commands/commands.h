// The commands of kubectl-tpu: each adds itself to the tree. commands.cpp lists them.
#pragma once

#include "cmd/kubectl-tpu/app.h"

namespace tpuslice::plugin {

void add_version(CLI::App& app, Commands& commands);

}  // namespace tpuslice::plugin
