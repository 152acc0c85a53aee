// The flag --memory-budget.
#pragma once

#include <string>

#include "cmd/tpu-slice-operator/options.h"

namespace tpuslice {

/// Errors: InvalidArgument for text that is no quantity of at least 1Mi.
[[nodiscard]] Status set_memory_budget(OperatorOptions& options, const std::string& value);

}  // namespace tpuslice
