// RememberedChanges: the histories of placement as a replica has them that has seen all changes of the world. Leaders
// that follow each other share them, like replicas that stood by.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controllers/placement/place_history.h"
#include "controllers/placement/rejection_history.h"
#include "tests/sim/slices/world.h"

namespace tpuslice::testing {

class RememberedChanges {
 public:
  /// The world outlives it.
  explicit RememberedChanges(const World& world) : world_(world) {}

  /// Records the changes since the last call.
  void update();
  /// The places that were left within `keep`.
  [[nodiscard]] placement::FormerPlaces recent_places(Duration keep) const;
  [[nodiscard]] std::shared_ptr<const placement::FormerPlaces> places() const { return places_.places(); }
  [[nodiscard]] std::shared_ptr<const placement::RejectedSlices> rejected() const { return rejections_.rejected(); }
  /// When the first pod of the slice was ever created; nothing before.
  [[nodiscard]] std::optional<Timestamp> first_created(const std::string& slice) const;

 private:
  const World& world_;
  std::size_t seen_ = 0;  ///< Of world_.changes().
  std::map<ObjectKey, PodPtr> pods_;
  std::map<std::string, NodePtr> nodes_;
  std::map<std::string, Timestamp> first_created_;
  placement::PlaceHistory places_;
  placement::RejectionHistory rejections_;
};

}  // namespace tpuslice::testing
