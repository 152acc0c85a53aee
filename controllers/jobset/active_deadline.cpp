#include "controllers/jobset/active_deadline.h"

#include <chrono>

#include <fmt/chrono.h>

namespace tpuslice::jobset {

std::optional<Timestamp> active_until(const JobSetState& state) {
  if (!state.spec.active_deadline || state.spec.suspended || !state.status.started) return std::nullopt;
  return *state.status.started + *state.spec.active_deadline;
}

Problem exceeded_deadline(const JobSetState& state) {
  const std::optional<Timestamp> until = active_until(state);
  if (!until || state.seen.now < *until) return {};
  using std::chrono::floor;
  using std::chrono::seconds;
  return {kDeadlineExceeded, fmt::format("JobSet was active for {}, exceeding the {} deadline",
                                         floor<seconds>(state.seen.now - *state.status.started),
                                         floor<seconds>(*state.spec.active_deadline))};
}

std::optional<Timestamp> next_start_time(const JobSetState& state, bool restarts) {
  if (!state.spec.active_deadline || state.spec.suspended) return std::nullopt;
  return restarts || !state.status.started ? state.seen.now : state.status.started;
}

}  // namespace tpuslice::jobset
