#include "tests/bench/fleet/trace.h"

namespace tpuslice::fleet_bench {
namespace {

constexpr int kWarmUpDays = 3;

}  // namespace

Trace make_trace(const Fleet& fleet, const TraceOptions& options) {
  Trace trace;
  trace.start = *parse_rfc3339("2026-01-01T00:00:00Z");
  trace.measured_from = trace.start + std::chrono::days(kWarmUpDays);
  trace.end = trace.measured_from + std::chrono::days(options.days);
  trace.jobs = make_jobs(fleet, options.seed, options.load, trace.start, trace.end);
  trace.faults = make_faults(fleet, options.seed, options.faults, trace.start, trace.end);
  return trace;
}

}  // namespace tpuslice::fleet_bench
