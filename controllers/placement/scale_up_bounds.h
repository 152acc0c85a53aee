// ScaleUpBounds: how many scouts, or provisioning requests, of one accelerator there may be.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controllers/placement/assignment.h"

namespace tpuslice::placement {

/// Whether more may be created.
enum class Room : std::uint8_t {
  kYes,
  kNotYet,  ///< Not before another one is unsuccessful.
  kNo,
};

/// How one that exists counts.
enum class Outcome : std::uint8_t {
  kOpen,          ///< It may still bring nodes.
  kUnsuccessful,  ///< Does not count for its namespace, and gives way to others.
  kEnded,         ///< Failed for good. Counted like kUnsuccessful, but kept until its slice may ask again.
};

/// At most `max` have equivalent node requirements, or are of one namespace; ten times as many in all. Unsuccessful
/// ones do not count for their namespace, and give way to others when there are twenty times as many; then nothing more
/// is created before one of them may be deleted. Not thread-safe.
class ScaleUpBounds {
 public:
  explicit ScaleUpBounds(std::size_t max) : max_(max) {}

  void count(const WaitingSlice& waiting, Outcome outcome = Outcome::kOpen);
  /// The answer for all slices of a gang.
  [[nodiscard]] Room room_for(const std::vector<const WaitingSlice*>& gang) const;
  /// How many of Outcome::kUnsuccessful must be deleted before `more` are created; they are no longer counted.
  [[nodiscard]] std::size_t take_excess(std::size_t more);

 private:
  [[nodiscard]] std::size_t limit() const;

  const std::size_t max_;
  std::map<const NodeRequirements*, std::size_t> by_requirements_;
  std::map<std::string, std::size_t> by_namespace_;
  std::size_t total_ = 0;
  std::size_t open_ = 0;
  std::size_t unsuccessful_ = 0;  ///< Without those that ended.
};

}  // namespace tpuslice::placement
