// ChangeFeed: the changes in Storage since a simulated controller last read them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

/// One controller's cursor into the history. Not thread-safe; each controller has its own.
class ChangeFeed {
 public:
  /// Names of the resources to follow; called for every relist.
  using ResourceNames = std::function<std::vector<std::string>()>;

  struct Batch {
    bool relisted = false;  ///< History was compacted: drop all state; `changes` has every object as kAdded.
    std::vector<Change> changes;
  };

  /// Follows `resources` (all of them when `filter` is false, with `resources` used for full lists only).
  ChangeFeed(const Storage& storage, ResourceNames resources, bool filter = true);
  /// Follows a fixed set of resources.
  ChangeFeed(const Storage& storage, std::vector<std::string> resources);

  [[nodiscard]] Batch take();

 private:
  Batch relist();

  const Storage& storage_;
  const ResourceNames resources_;
  const bool filter_;
  Revision cursor_ = 0;
};

}  // namespace tpuslice::sim
