// Store: the objects of one type and scope, kept current by a watch. Reconcilers read it; only its watch writes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "api/base/check.h"
#include "api/base/exception_barrier.h"
#include "api/base/mutex.h"
#include "api/types/views.h"
#include "controllers/runtime/any_store.h"
#include "controllers/runtime/change_log.h"

namespace tpuslice::runtime {

template <typename View>
class Index;

/// Thread-safe. Readers get shared, immutable views; a relist is swapped in under one lock.
///
/// View is a type of api/types/views.h, or any other that has
///   - members key, uid, resource_version, deletion, controller, and operator==;
///   - `static Result<View> decode(std::string_view json, const AnnotationPrefixes* keep)`.
template <typename View>
class Store final : public AnyStore {
 public:
  using Ptr = std::shared_ptr<const View>;
  /// By key, which only the views hold.
  struct SameKey {
    using is_transparent = void;
    std::size_t operator()(const ObjectKey& key) const { return std::hash<ObjectKey>()(key); }
    std::size_t operator()(const Ptr& view) const { return (*this)(view->key); }
    bool operator()(const Ptr& a, const Ptr& b) const { return a->key == b->key; }
    bool operator()(const ObjectKey& a, const Ptr& b) const { return a == b->key; }
    bool operator()(const Ptr& a, const ObjectKey& b) const { return a->key == b; }
  };
  using Objects = std::unordered_set<Ptr, SameKey, SameKey>;
  /// The value that an object is looked up by, if any. Depends on the view alone.
  using IndexFunction = std::optional<std::string> (*)(const View&);
  /// A change: `before` is null for an addition, `after` for a deletion.
  using Listener = std::function<void(const Ptr& before, const Ptr& after)>;

  explicit Store(ResourceType type) : AnyStore(type) {}

  [[nodiscard]] std::optional<Entry> entry(const ObjectKey& key) const override TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::uint64_t revision() const override TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] bool synced() const override TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] Ptr get(const ObjectKey& key) const TPUSLICE_EXCLUDES(mutex_);
  /// Sorted by key.
  [[nodiscard]] std::vector<Ptr> list() const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::size_t size() const TPUSLICE_EXCLUDES(mutex_);

  /// Indexes are added before the watch starts. Those of the same function are one.
  [[nodiscard]] Index<View> add_index(IndexFunction function) TPUSLICE_EXCLUDES(mutex_);
  /// Listeners are added before the watch starts and called, without a lock held, on the watch's thread. They are not
  /// called for a change that leaves the view equal.
  void add_listener(Listener listener) { listeners_.push_back(std::move(listener)); }
  /// The same, but called before a reader can see the change: for what a plan must know when it sees it.
  void add_early_listener(Listener listener) { early_listeners_.push_back(std::move(listener)); }
  /// Logs are added before the watch starts. All changes are recorded, those of the resourceVersion alone too.
  [[nodiscard]] std::shared_ptr<ChangeLog<View>> add_change_log() {
    return logs_.emplace_back(std::make_shared<ChangeLog<View>>());
  }

  /// Exceptions of listeners and index functions end there: the other ones run, and the object is in no such index.
  /// Before the watch starts; `barrier` outlives the store. Without one they reach the caller.
  void shield_with(const ExceptionBarrier& barrier) { barrier_ = &barrier; }

  // Written by the watch machine, or by a test.
  /// Replaces the contents by a full list. Objects of a known version are kept and cause no listener call.
  void swap_in(const Objects& listed, std::uint64_t revision) TPUSLICE_EXCLUDES(mutex_);
  /// Makes synced() false until the next list.
  void set_unsynced() TPUSLICE_EXCLUDES(mutex_);
  /// The same, for tests.
  void replace(std::vector<View> all, std::uint64_t revision) TPUSLICE_EXCLUDES(mutex_);
  void put(View view) TPUSLICE_EXCLUDES(mutex_);
  void erase(const ObjectKey& key, std::uint64_t revision) TPUSLICE_EXCLUDES(mutex_);
  void advance(std::uint64_t revision) TPUSLICE_EXCLUDES(mutex_);

 private:
  friend class Index<View>;

  struct ByKey {
    bool operator()(const Ptr& a, const Ptr& b) const { return a->key < b->key; }
  };
  struct IndexTable {
    IndexFunction function;
    /// Sorted by key. Takes 16 bytes per object, a set would take 64. An insertion moves the objects behind it: 60 us
    /// among 100,000 pods of one accelerator.
    std::unordered_map<std::string, std::vector<Ptr>> objects;
  };

  [[nodiscard]] std::vector<Ptr> lookup(std::size_t index, const std::string& value) const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] bool contains(std::size_t index, const std::string& value) const TPUSLICE_EXCLUDES(mutex_);
  /// Makes `after` take the place of `before`; either may be null.
  void change_locked(const Ptr& before, const Ptr& after) TPUSLICE_REQUIRES(mutex_);
  void change_index(IndexTable& index, const Ptr& before, const Ptr& after) const TPUSLICE_REQUIRES(mutex_);
  void notify(const std::vector<Listener>& listeners, const Ptr& before, const Ptr& after) const;
  /// What replacing the contents by `listed` changes. Sorted like the indexes, so that most insertions append.
  [[nodiscard]] std::vector<std::pair<Ptr, Ptr>> changes_to(const Objects& listed) const TPUSLICE_EXCLUDES(mutex_);

  std::vector<Listener> early_listeners_;
  std::vector<Listener> listeners_;
  std::vector<std::shared_ptr<ChangeLog<View>>> logs_;
  const ExceptionBarrier* barrier_ = nullptr;
  mutable Mutex mutex_;
  Objects objects_ TPUSLICE_GUARDED_BY(mutex_);
  std::vector<IndexTable> indexes_ TPUSLICE_GUARDED_BY(mutex_);
  std::uint64_t revision_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  bool synced_ TPUSLICE_GUARDED_BY(mutex_) = false;
};

/// A lookup in one store by a derived value. Borrows the store; copies are cheap.
template <typename View>
class Index {
 public:
  /// Sorted by key.
  [[nodiscard]] std::vector<typename Store<View>::Ptr> lookup(const std::string& value) const {
    return store_->lookup(table_, value);
  }
  /// Whether lookup() returns any object.
  [[nodiscard]] bool contains(const std::string& value) const { return store_->contains(table_, value); }

 private:
  friend class Store<View>;
  Index(const Store<View>& store, std::size_t table) : store_(&store), table_(table) {}

  const Store<View>* store_;
  std::size_t table_;
};

using PodStore = Store<PodView>;
using NodeStore = Store<NodeView>;
using JobStore = Store<JobView>;
using StatefulSetStore = Store<StatefulSetView>;
using ServiceStore = Store<ServiceView>;
using ObjectStore = Store<ObjectView>;

/// Index function: the uid of the controller owner.
template <typename View>
[[nodiscard]] std::optional<std::string> owner_uid(const View& view) {
  if (!view.controller) return std::nullopt;
  return view.controller->uid;
}

/// Whether a store that has `known` stays as it is when `listed` is listed. A whole view takes the place of a minimal
/// one of the same version, and vice versa.
template <typename View>
[[nodiscard]] bool is_same_version(const View& known, const View& listed) {
  if constexpr (requires { known.minimal; }) {
    if (known.minimal != listed.minimal) return false;
  }
  return known.uid == listed.uid && known.resource_version == listed.resource_version;
}

namespace internal {

/// Whether the two differ only in resourceVersion. `after` is unchanged when it returns.
template <typename View>
bool equal_except_revision(const View& before, View& after) {
  std::string revision = std::exchange(after.resource_version, before.resource_version);
  const bool equal = before == after;
  after.resource_version = std::move(revision);
  return equal;
}
/// The text of a whole object contains its resourceVersion.
inline bool equal_except_revision(const ObjectView& /*before*/, ObjectView& /*after*/) { return false; }

}  // namespace internal

template <typename View>
std::optional<AnyStore::Entry> Store<View>::entry(const ObjectKey& key) const {
  const Ptr view = get(key);
  if (!view) return std::nullopt;
  return Entry{view->uid, revision_of(view->resource_version), view->deletion.has_value()};
}

template <typename View>
std::uint64_t Store<View>::revision() const {
  const MutexLock lock(mutex_);
  return revision_;
}

template <typename View>
bool Store<View>::synced() const {
  const MutexLock lock(mutex_);
  return synced_;
}

template <typename View>
typename Store<View>::Ptr Store<View>::get(const ObjectKey& key) const {
  const MutexLock lock(mutex_);
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : *found;
}

template <typename View>
std::vector<typename Store<View>::Ptr> Store<View>::list() const {
  std::vector<Ptr> all;
  {
    const MutexLock lock(mutex_);
    all.assign(objects_.begin(), objects_.end());
  }
  std::sort(all.begin(), all.end(), ByKey{});
  return all;
}

template <typename View>
std::size_t Store<View>::size() const {
  const MutexLock lock(mutex_);
  return objects_.size();
}

template <typename View>
Index<View> Store<View>::add_index(IndexFunction function) {
  const MutexLock lock(mutex_);
  const auto known = std::ranges::find(indexes_, function, &IndexTable::function);
  const auto table = static_cast<std::size_t>(known - indexes_.begin());
  if (known == indexes_.end()) {
    TPUSLICE_CHECK_MSG(objects_.empty(), "indexes are added before the watch starts");
    indexes_.push_back({function, {}});
  }
  return Index<View>(*this, table);
}

template <typename View>
std::vector<typename Store<View>::Ptr> Store<View>::lookup(std::size_t index, const std::string& value) const {
  const MutexLock lock(mutex_);
  const auto& objects = indexes_[index].objects;
  const auto found = objects.find(value);
  if (found == objects.end()) return {};
  return found->second;
}

template <typename View>
bool Store<View>::contains(std::size_t index, const std::string& value) const {
  const MutexLock lock(mutex_);
  return indexes_[index].objects.contains(value);
}

template <typename View>
void Store<View>::replace(std::vector<View> all, std::uint64_t revision) {
  Objects listed;
  listed.reserve(all.size());
  for (View& view : all) listed.insert(std::make_shared<const View>(std::move(view)));
  swap_in(listed, revision);
}

template <typename View>
std::vector<std::pair<typename Store<View>::Ptr, typename Store<View>::Ptr>> Store<View>::changes_to(
    const Objects& listed) const {
  std::vector<std::pair<Ptr, Ptr>> changes;
  const MutexLock lock(mutex_);
  for (const Ptr& view : listed) {
    const auto known = objects_.find(view->key);
    const Ptr before = known == objects_.end() ? nullptr : *known;
    if (before && is_same_version(*before, *view)) continue;
    if (before && before->uid != view->uid) {
      changes.emplace_back(before, nullptr);
      changes.emplace_back(nullptr, view);
    } else {
      changes.emplace_back(before, view);
    }
  }
  // Objects that are not listed were deleted while no watch was open.
  for (const Ptr& view : objects_) {
    if (!listed.contains(view->key)) changes.emplace_back(view, nullptr);
  }
  // The sort is stable, so the two changes of a replaced object stay in order.
  std::ranges::stable_sort(changes, {}, [](const auto& change) -> const ObjectKey& {
    return change.second ? change.second->key : change.first->key;
  });
  return changes;
}

template <typename View>
void Store<View>::swap_in(const Objects& listed, std::uint64_t revision) {
  // Only the caller changes the store.
  const auto changes = changes_to(listed);
  for (const auto& [before, after] : changes) notify(early_listeners_, before, after);
  {
    const MutexLock lock(mutex_);
    for (const auto& [before, after] : changes) change_locked(before, after);
    // A list counts even when it is older than what was seen: the API server may have been restored from a backup.
    revision_ = revision;
    synced_ = true;
  }
  for (const auto& [before, after] : changes) notify(listeners_, before, after);
}

template <typename View>
void Store<View>::set_unsynced() {
  const MutexLock lock(mutex_);
  synced_ = false;
}

template <typename View>
void Store<View>::put(View view) {
  const Ptr before = get(view.key);
  const bool replaced = before && before->uid != view.uid;
  const bool changed = !before || replaced || !internal::equal_except_revision(*before, view);
  const Ptr after = std::make_shared<const View>(std::move(view));
  const auto notify_all = [&](const std::vector<Listener>& listeners) {
    if (replaced) {
      notify(listeners, before, nullptr);
      notify(listeners, nullptr, after);
    } else if (changed) {
      notify(listeners, before, after);
    }
  };
  notify_all(early_listeners_);
  {
    const MutexLock lock(mutex_);
    change_locked(before, after);
    revision_ = std::max(revision_, revision_of(after->resource_version));
  }
  notify_all(listeners_);
}

template <typename View>
void Store<View>::erase(const ObjectKey& key, std::uint64_t revision) {
  const Ptr before = get(key);
  if (before) notify(early_listeners_, before, nullptr);
  {
    const MutexLock lock(mutex_);
    change_locked(before, nullptr);
    revision_ = std::max(revision_, revision);
  }
  if (before) notify(listeners_, before, nullptr);
}

template <typename View>
void Store<View>::advance(std::uint64_t revision) {
  const MutexLock lock(mutex_);
  revision_ = std::max(revision_, revision);
}

template <typename View>
void Store<View>::change_locked(const Ptr& before, const Ptr& after) {
  for (IndexTable& index : indexes_) change_index(index, before, after);
  if (before) objects_.erase(before);
  if (after) objects_.insert(after);
  for (const auto& log : logs_) log->record(before, after);
}

template <typename View>
void Store<View>::change_index(IndexTable& index, const Ptr& before, const Ptr& after) const {
  const auto place = [](std::vector<Ptr>& objects, const Ptr& view) {
    return std::lower_bound(objects.begin(), objects.end(), view, ByKey{});
  };
  const auto value_of = [&](const Ptr& view) -> std::optional<std::string> {
    if (!view) return std::nullopt;
    return run_behind(barrier_, [&] { return index.function(*view); }).value_or(std::nullopt);
  };
  const std::optional<std::string> old_value = value_of(before);
  const std::optional<std::string> value = value_of(after);
  // Not listed if the index function threw for it.
  const auto found = old_value ? index.objects.find(*old_value) : index.objects.end();
  if (found != index.objects.end()) {
    std::vector<Ptr>& objects = found->second;
    const auto listed = place(objects, before);
    const bool is_listed = listed != objects.end() && *listed == before;
    if (is_listed && old_value == value) {
      *listed = after;
      return;
    }
    if (is_listed) objects.erase(listed);
    if (objects.empty()) index.objects.erase(found);
  }
  if (value) {
    std::vector<Ptr>& objects = index.objects[*value];
    objects.insert(place(objects, after), after);
  }
}

template <typename View>
void Store<View>::notify(const std::vector<Listener>& listeners, const Ptr& before, const Ptr& after) const {
  for (const Listener& listener : listeners) (void)run_behind(barrier_, [&] { listener(before, after); });
}

}  // namespace tpuslice::runtime
