// Statistics of several runs, and the page that records them.
#pragma once

#include <string>
#include <vector>

#include "api/base/result.h"

namespace tpuslice::bench {

[[nodiscard]] double median(std::vector<double> values);

/// "312 (290-330)": the median and, if runs differ, minimum and maximum; "-" without values.
[[nodiscard]] std::string spread(std::vector<double> values, int digits);

/// Appends `table` to the file, under a heading with date, commit and machine. Errors: InvalidArgument.
Status record(const std::string& path, const std::string& table);

}  // namespace tpuslice::bench
