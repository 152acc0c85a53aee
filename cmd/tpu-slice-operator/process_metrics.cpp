#include "cmd/tpu-slice-operator/process_metrics.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "controllers/runtime/memory.h"

namespace tpuslice {
namespace {

double cpu_seconds_of_process() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double open_fds_of_process() {
  std::error_code problem;
  const std::filesystem::directory_iterator fds("/proc/self/fd", problem);
  return problem ? 0 : static_cast<double>(std::distance(begin(fds), end(fds)));
}

}  // namespace

ProcessMetrics::ProcessMetrics(Metrics& metrics, const Clock& clock)
    : registry_(metrics),
      cpu_seconds_(metrics.counter("process_cpu_seconds_total", "User and system CPU time.")),
      resident_bytes_(metrics.gauge("process_resident_memory_bytes", "Resident memory.")),
      open_fds_(metrics.gauge("process_open_fds", "Open file descriptors.")) {
  metrics.gauge("process_start_time_seconds", "When the operator started.")
      .set(std::chrono::duration<double>(clock.wall().time_since_epoch()).count());
  registry_.update_at_scrape(this, [this] { update(); });
}

ProcessMetrics::~ProcessMetrics() { registry_.stop_updates(this); }

void ProcessMetrics::update() const {
  cpu_seconds_.increment(std::max(0.0, cpu_seconds_of_process() - cpu_seconds_.value()));
  resident_bytes_.set(static_cast<double>(runtime::resident_memory()));
  open_fds_.set(open_fds_of_process());
}

}  // namespace tpuslice
