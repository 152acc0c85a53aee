// AcceleratorCaches: keeps the caches of the accelerators for which pods wait current with the stores.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/base/mutex.h"
#include "controllers/placement/accelerator_cache.h"
#include "controllers/placement/accelerator_indexes.h"
#include "controllers/slice/indexes.h"

namespace tpuslice::placement {

/// Thread-safe, for one caller at a time for each accelerator. No lock is held while a cache is updated.
class AcceleratorCaches {
 public:
  /// The stores outlive it.
  AcceleratorCaches(const runtime::PodStores& pods, runtime::NodeStore& nodes, slice::Indexes indexes,
                    PlacementOptions options);

  struct Updated {
    AcceleratorCache& cache;                    ///< Valid until the next call for the accelerator.
    std::optional<Timestamp> last_update = {};  ///< The time of the call before.
  };
  /// What the stores show. The first call for an accelerator reads all of its pods and nodes, the next ones what has
  /// changed.
  [[nodiscard]] Updated update(const std::string& accelerator, Remembered remembered, Timestamp now)
      TPUSLICE_EXCLUDES(mutex_);
  /// Frees the cache of the accelerator.
  void drop(const std::string& accelerator) TPUSLICE_EXCLUDES(mutex_);

 private:
  /// More changed nodes and slices of one accelerator are not followed; all is read instead.
  static constexpr std::size_t kMaxChanged = 4096;

  struct Changed {
    bool all = true;
    std::set<std::string> nodes;
    std::set<ObjectKey> slices;
  };
  struct Entry {
    AcceleratorCache cache;
    Remembered remembered;  ///< At the time of the last update.
    std::optional<Timestamp> last_update = {};
  };

  void take_changes_locked() TPUSLICE_REQUIRES(mutex_);
  void add_pod_locked(const PodView& pod) TPUSLICE_REQUIRES(mutex_);
  void add_node_locked(const NodeView& node) TPUSLICE_REQUIRES(mutex_);
  void read(Entry& entry, Timestamp now) const;
  void apply(Entry& entry, const Changed& changed, Timestamp now) const;

  const slice::Indexes indexes_;
  const AcceleratorIndexes by_accelerator_;
  const PlacementOptions options_;
  const runtime::NodeStore& nodes_;
  std::vector<std::shared_ptr<runtime::ChangeLog<PodView>>> pod_logs_;
  const std::shared_ptr<runtime::ChangeLog<NodeView>> node_log_;
  Mutex mutex_;
  std::map<std::string, std::unique_ptr<Entry>> entries_ TPUSLICE_GUARDED_BY(mutex_);
  /// The changes since the last update, by accelerator: those of entries_.
  std::map<std::string, Changed> changed_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::placement
