#include "tests/bench/admission/mutator_load.h"

#include "tests/bench/cpu_clock.h"
#include "tests/support/admission.h"
#include "webhook/admission_handler.h"

namespace tpuslice::bench {

MutatorFigures measure_mutator(const std::vector<std::string>& bodies, Duration time) {
  const RealClock clock;
  std::vector<http::Request> requests;
  for (const std::string& body : bodies) {
    requests.push_back({"POST", std::string(webhook::kMutatePodPath) + "?timeout=10s", {}, body});
  }
  const rules::MutationOptions options = with_kinds();
  std::size_t allowed = 0;
  const Instant begin = clock.now();
  const double cpu_before = cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID);
  Instant now = begin;
  for (; now - begin < time; now = clock.now()) {
    for (const http::Request& request : requests) {
      if (webhook::handle_admission(request, options).status == 200) ++allowed;
    }
  }
  const double cpu = cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
  const auto count = static_cast<double>(allowed);
  return {count / std::chrono::duration<double>(now - begin).count(), 1000 * cpu / count};
}

}  // namespace tpuslice::bench
