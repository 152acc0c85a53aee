#include "tests/bench/fleet/chip_account.h"

#include <algorithm>

#include "tests/bench/fleet/draws.h"

namespace tpuslice::fleet_bench {

void ChipAccount::advance(Timestamp now) {
  const Timestamp from = std::max(now_, measured_from_);
  if (now > from) {
    for (std::size_t kind = 0; kind < kHeldKinds; ++kind) measured_[kind] += held_[kind] * hours_of(now - from);
  }
  now_ = now;
}

void ChipAccount::add_useful(Timestamp from, Timestamp to, int hosts) {
  if (to <= from) return;
  useful_in_all_ += hosts * hours_of(to - from);
  const Timestamp measured = std::max(from, measured_from_);
  if (to > measured) useful_ += hosts * hours_of(to - measured);
}

void ChipAccount::take_sample() {
  if (now_ <= measured_from_) return;
  const auto mean = [&](Held kind) {
    const auto index = static_cast<std::size_t>(kind);
    return measured_[index] - at_last_sample_[index];
  };
  samples_.push_back({hours_of(now_ - measured_from_), mean(Held::kRunning), mean(Held::kWaiting)});
  at_last_sample_ = measured_;
}

}  // namespace tpuslice::fleet_bench
