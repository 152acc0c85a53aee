// Gangs: slices that start together, in the order in which they are placed.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controllers/placement/slices.h"

namespace tpuslice::placement {

/// The placed slices, by key.
using RunningSlices = std::map<ObjectKey, const Slice*>;

/// Number of slices of each gang that have started, by namespace and gang name.
using GangCounts = std::map<std::pair<std::string, std::string>, std::size_t>;

/// Most gangs are one slice.
struct Gang {
  std::vector<const Slice*> slices;
  std::vector<const Slice*> running = {};  ///< Its slices that are placed.

  [[nodiscard]] const std::string& namespace_name() const { return slices.front()->key.namespace_name; }
  /// The highest priority of its slices.
  [[nodiscard]] std::int32_t priority() const;
  /// When the first of its slices began to wait, of those that run, too: its place in the queue does not depend on
  /// which of them wait now.
  [[nodiscard]] Timestamp queued_since() const;
  /// Number of its slices that are ready or placed.
  [[nodiscard]] std::size_t size(const GangCounts& placed_gangs) const;
  /// From when on it is repaired in parts, since all of its slices have run before and no further ones are being
  /// created: it had started. Absent if one of them has not run.
  [[nodiscard]] std::optional<Timestamp> heals_from() const;
  /// The latest time at which all its pods have ended, if they start at `now`; absent if a pod has no deadline.
  [[nodiscard]] std::optional<Timestamp> ends_by(Timestamp now) const;
};

/// The gangs of these slices by priority; then those whose nodes another controller has chosen (node selector
/// kubernetes.io/hostname), which cannot use others; then by how long they wait, and by name.
[[nodiscard]] std::vector<Gang> gangs_in_order(const std::vector<const Slice*>& ready,
                                               const RunningSlices& placed = {});

/// The latest time at which the pods of a slice that started at `start` have ended; absent if one has no deadline
/// (activeDeadlineSeconds).
[[nodiscard]] std::optional<Timestamp> ends_by(const Slice& slice, Timestamp start);

}  // namespace tpuslice::placement
