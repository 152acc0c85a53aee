// ChipAccount: integrates over time for what the hosts of a fleet are held, and how much of their work was of use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "api/base/clock.h"

namespace tpuslice::fleet_bench {

/// What a host with a pod is held for.
enum class Held : std::uint8_t {
  kRunning,   ///< All slices of its job run.
  kWaiting,   ///< Other hosts of its job have no node yet: it is half-placed.
  kStopping,  ///< Its pod is terminating.
};
inline constexpr std::size_t kHeldKinds = 3;

/// Means of one hour, in hosts.
struct HourlySample {
  double hours = 0;  ///< End of the hour, since measuring began.
  double running = 0;
  double half_placed = 0;
};

class ChipAccount {
 public:
  ChipAccount(Timestamp start, Timestamp measured_from) : measured_from_(measured_from), now_(start) {}

  void advance(Timestamp now);
  void add(Held kind, int hosts) { held_[static_cast<std::size_t>(kind)] += hosts; }
  /// So many hosts have made progress between these times that was not lost.
  void add_useful(Timestamp from, Timestamp to, int hosts);
  /// Ends an hour.
  void take_sample();

  // Host-hours.
  /// Since measuring began.
  [[nodiscard]] double held(Held kind) const { return measured_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] double useful() const { return useful_; }
  /// Since the start.
  [[nodiscard]] double useful_in_all() const { return useful_in_all_; }
  [[nodiscard]] const std::vector<HourlySample>& samples() const { return samples_; }

 private:
  const Timestamp measured_from_;
  Timestamp now_;
  std::array<int, kHeldKinds> held_{};
  std::array<double, kHeldKinds> measured_{};
  double useful_ = 0;
  double useful_in_all_ = 0;
  std::array<double, kHeldKinds> at_last_sample_{};  ///< `measured_` at that time.
  std::vector<HourlySample> samples_;
};

}  // namespace tpuslice::fleet_bench
