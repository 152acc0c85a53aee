// The names in a PromQL expression: enough of a parser to compare rules and dashboards with the metrics that exist.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"

namespace tpuslice::testing {

struct PromqlNames {
  struct Selector {
    std::string metric;
    std::set<std::string> labels;  ///< Of its matchers.
  };
  std::vector<Selector> selectors;
  std::set<std::string> grouping;  ///< Labels of by, without, on, ignoring and group_left.
};

/// Errors: InvalidArgument for brackets or strings that do not end, unknown functions, malformed matchers and
/// durations, and an expression without a selector.
[[nodiscard]] Result<PromqlNames> read_promql(std::string_view expression);

}  // namespace tpuslice::testing
