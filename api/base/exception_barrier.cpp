#include "api/base/exception_barrier.h"

#include <utility>

#include "api/base/pause.h"

namespace tpuslice {
namespace {

constexpr Duration kExceptionLogInterval = std::chrono::minutes(1);
constexpr Duration kRestartAfterException = std::chrono::seconds(1);

}  // namespace

ExceptionBarrier::ExceptionBarrier(std::string where, Metrics& metrics, const Clock& clock, Logger log)
    : where_(std::move(where)),
      counter_(metrics.counter("tpuslice_exceptions_total",
                               "Exceptions that ended one object, attempt or connection instead of the process.",
                               {{"where", where_}})),
      clock_(clock),
      log_(std::move(log)) {}

void ExceptionBarrier::keep_running(const std::stop_token& stop, const std::function<void()>& work) const {
  while (!stop.stop_requested()) {
    if (run(work)) return;
    pause(kRestartAfterException, stop);
  }
}

Error ExceptionBarrier::caught(std::string_view what) const {
  counter_.increment();
  const Instant now = clock_.now();
  Instant due = next_log_;
  if (now >= due && next_log_.compare_exchange_strong(due, now + kExceptionLogInterval)) {
    log_.error("exception", {{"where", where_}, {"error", what}});
  }
  return Error::defect("{}: exception: {}", where_, what);
}

}  // namespace tpuslice
