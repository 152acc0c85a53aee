#include "cmd/tpu-slice-operator/upstream_metrics.h"

namespace tpuslice {

void append_upstream_metrics(const runtime::Manager& manager, const std::vector<UpstreamMetrics>& all,
                             std::string& text, SeriesLimits limits) {
  if (!manager.leading()) return;
  SeriesWriter series(text, limits);
  for (const UpstreamMetrics& each : all) {
    if (manager.upstream().may_run(each.controller)) each.write(series);
  }
  SeriesWriter summary(text);
  summary.family("tpuslice_upstream_series_left_out",
                 "Series under upstream's names that the last scrape left out, as they are too many.");
  summary.sample({}, static_cast<double>(series.left_out()));
}

}  // namespace tpuslice
