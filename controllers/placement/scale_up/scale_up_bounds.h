// ScaleUpBounds: how many scouts, or provisioning requests, of one accelerator there may be.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controllers/placement/assignment.h"

namespace tpuslice::placement {

/// Whether a scout or provisioning request that exists may still bring nodes.
enum class ScaleUpState : std::uint8_t {
  kOpen,          ///< It may.
  kUnsuccessful,  ///< It has brought none in time, and gives way to others.
  kEnded,         ///< It has failed for good, and is kept until its slice may ask again.
};

/// The bounds of one accelerator:
///
/// - `max` with equivalent node requirements, in any state.
/// - `max` open ones of one namespace, and ten times as many of all namespaces: one namespace does not use up what the
///   others may ask for.
/// - Twenty times `max` in all. Unsuccessful ones are kept up to here, since a slice does not ask again while its own
///   exists; then the oldest are deleted for new ones. If all are open or have ended, nothing is created.
///
/// Not thread-safe.
class ScaleUpBounds {
 public:
  explicit ScaleUpBounds(std::size_t max) : max_(max) {}

  void count(const WaitingSlice& waiting, ScaleUpState state = ScaleUpState::kOpen);
  /// Whether all slices of a gang may ask for nodes.
  [[nodiscard]] bool may_ask(const std::vector<const WaitingSlice*>& gang) const;
  /// How many of ScaleUpState::kUnsuccessful must be deleted before `more` are created; they are no longer counted.
  [[nodiscard]] std::size_t take_excess(std::size_t more);

 private:
  [[nodiscard]] std::size_t max_open() const;
  [[nodiscard]] std::size_t max_kept() const;

  const std::size_t max_;
  std::map<const NodeRequirements*, std::size_t> by_requirements_;
  std::map<std::string, std::size_t> by_namespace_;
  std::size_t total_ = 0;
  std::size_t open_ = 0;
  std::size_t unsuccessful_ = 0;  ///< Without those that ended.
};

}  // namespace tpuslice::placement
