// Store: what a watch has told us about one resource. Reconcilers read it; only its watch writes it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/base/mutex.h"
#include "api/types/views.h"

namespace tpuslice::runtime {

/// resourceVersion as a number; 0 for what is none. Kubernetes lets clients compare them (KEP-5504).
[[nodiscard]] std::uint64_t revision_of(std::string_view resource_version);

/// Thread-safe. Readers get shared, immutable views; a relist is swapped in under one lock.
///
/// View is one of api/types/views.h. An index names the groups an object is looked up by, e.g.
/// "owner/<uid>"; it must depend on the view alone. Lookups return objects sorted by key.
template <typename View>
class Store {
 public:
  using Ptr = std::shared_ptr<const View>;
  using Index = std::function<std::vector<std::string>(const View&)>;
  /// What changed: `before` is null for an addition, `after` for a deletion.
  using Listener = std::function<void(const Ptr& before, const Ptr& after)>;

  explicit Store(ResourceType type, Index index = {});

  [[nodiscard]] const ResourceType& type() const { return type_; }
  [[nodiscard]] Ptr get(const ObjectKey& key) const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<Ptr> lookup(std::string_view index_value) const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<Ptr> list() const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::size_t size() const TPUSLICE_EXCLUDES(mutex_);
  /// The newest revision this store is known to reflect, bookmarks included.
  [[nodiscard]] std::uint64_t revision() const TPUSLICE_EXCLUDES(mutex_);
  /// False until the first list is complete.
  [[nodiscard]] bool synced() const TPUSLICE_EXCLUDES(mutex_);

  /// Another index; as listeners, added before the watch starts. Indexes that name the same group share it.
  void add_index(Index index);
  /// Listeners are added before the watch starts and called, without a lock held, on the watch's thread. They do not
  /// hear of changes that leave the view as it was.
  void add_listener(Listener listener);

  // Written by the watch machine, or by a test.
  void replace(std::vector<View> all, std::uint64_t revision) TPUSLICE_EXCLUDES(mutex_);
  void put(View view) TPUSLICE_EXCLUDES(mutex_);
  void erase(const ObjectKey& key, std::uint64_t revision) TPUSLICE_EXCLUDES(mutex_);
  void advance(std::uint64_t revision) TPUSLICE_EXCLUDES(mutex_);

 private:
  struct ByKey {
    bool operator()(const Ptr& a, const Ptr& b) const { return a->key < b->key; }
  };

  void insert_locked(Ptr view) TPUSLICE_REQUIRES(mutex_);
  void remove_locked(const ObjectKey& key) TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] std::vector<std::string> groups_of(const View& view) const;
  void notify(const Ptr& before, const Ptr& after) const;

  const ResourceType type_;
  std::vector<Index> indexes_;
  std::vector<Listener> listeners_;
  mutable Mutex mutex_;
  std::unordered_map<ObjectKey, Ptr> objects_ TPUSLICE_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::set<Ptr, ByKey>> groups_ TPUSLICE_GUARDED_BY(mutex_);
  std::uint64_t revision_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  bool synced_ TPUSLICE_GUARDED_BY(mutex_) = false;
};

using PodStore = Store<PodView>;
using NodeStore = Store<NodeView>;
using JobStore = Store<JobView>;
using StatefulSetStore = Store<StatefulSetView>;
using ServiceStore = Store<ServiceView>;
using ObjectStore = Store<ObjectView>;

/// The index of objects by their controller: "owner/<uid>".
template <typename View>
[[nodiscard]] std::vector<std::string> owner_index(const View& view) {
  if (!view.controller) return {};
  return {"owner/" + view.controller->uid};
}

}  // namespace tpuslice::runtime
