// Which files of deploy/rbac each controller needs, and which of their grants the workloads of the test do not use.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/e2e/install/used_rules.h"

namespace tpuslice::testing {

/// Controller, which is also the name of its ServiceAccount in the test, to its files.
[[nodiscard]] const std::map<std::string, std::vector<std::string>>& files_of_controllers();

/// A grant that is needed, but not by the workloads of the test.
[[nodiscard]] bool may_be_unused(const Grant& grant);

}  // namespace tpuslice::testing
