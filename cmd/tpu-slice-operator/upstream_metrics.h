// The metrics of upstream's operators that have series for each object, for their dashboards and alerts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controllers/kind/kind.h"
#include "controllers/runtime/manager.h"

namespace tpuslice {

/// Those of one kind.
struct UpstreamMetrics {
  std::string_view controller;  ///< Name of the kind's controller.
  kind::WriteSeries write;
};

/// Appends the series of all kinds and tpuslice_upstream_series_left_out, the number of those that a limit left out.
/// Nothing if this replica does not lead: dashboards count series, and each object must count once. Nothing of a kind
/// that is left to its upstream controller, which serves them.
void append_upstream_metrics(const runtime::Manager& manager, const std::vector<UpstreamMetrics>& all,
                             std::string& text, SeriesLimits limits = {});

}  // namespace tpuslice
