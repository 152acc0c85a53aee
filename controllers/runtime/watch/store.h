// Store: the objects of one type and scope, kept current by a watch, or by one for each of several namespaces.
// Reconcilers read it; only its watches write it.
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
#include "controllers/runtime/watch/any_store.h"
#include "controllers/runtime/watch/change_log.h"
#include "controllers/runtime/watch/index_table.h"
#include "controllers/runtime/watch/list_changes.h"
#include "controllers/runtime/watch/store_parts.h"

namespace tpuslice::runtime {

template <typename View>
class Index;

/// Thread-safe. Readers get shared, immutable views; a relist is swapped in under one lock.
///
/// View is a type of api/types/views.h, or any other that has
///   - members key, uid, resource_version, deletion, controller, and operator==;
///   - `static Result<View> decode(std::string_view json, const KeptKeys* keep)`.
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
  /// The value that an object is looked up by, if any. Depends on the view alone; called without a lock held.
  using IndexFunction = std::optional<std::string> (*)(const View&);
  /// A change: `before` is null for an addition, `after` for a deletion.
  using Listener = std::function<void(const Ptr& before, const Ptr& after)>;

  explicit Store(ResourceType type, const Namespaces& namespaces = {}) : AnyStore(type), parts_(namespaces) {}

  [[nodiscard]] std::optional<Entry> entry(const ObjectKey& key) const override TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::uint64_t revision(const ObjectKey& key) const override TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return parts_.revision(key);
  }
  [[nodiscard]] bool synced() const override TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return parts_.all_synced();
  }
  [[nodiscard]] bool partly_synced() const override TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return parts_.any_synced();
  }
  [[nodiscard]] bool synced(const ObjectKey& key) const override TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return parts_.synced(key);
  }
  [[nodiscard]] Ptr get(const ObjectKey& key) const TPUSLICE_EXCLUDES(mutex_);
  /// Sorted by key.
  [[nodiscard]] std::vector<Ptr> list() const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::size_t size() const TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return objects_.size();
  }
  /// Adds the objects of these keys that are not in `found`.
  void add_missing(const std::vector<ObjectKey>& keys, std::vector<Ptr>& found) const TPUSLICE_EXCLUDES(mutex_);

  /// Indexes are added before the watch starts. Those of the same function are one.
  [[nodiscard]] Index<View> add_index(IndexFunction function) TPUSLICE_EXCLUDES(mutex_);
  /// Listeners are added before the watch starts and called, without a lock held, on the watch's thread; those of
  /// several watches at the same time. They are not called for a change that leaves the view equal.
  void add_listener(Listener listener) { listeners_.push_back(std::move(listener)); }
  /// The same, but called before a reader can see the change: for what a plan must know when it sees it.
  void add_early_listener(Listener listener) { early_listeners_.push_back(std::move(listener)); }
  /// Logs are added before the watch starts. All changes are recorded, those of the resourceVersion alone too.
  [[nodiscard]] std::shared_ptr<ChangeLog<View>> add_change_log() {
    return logs_.emplace_back(std::make_shared<ChangeLog<View>>());
  }

  /// Exceptions of listeners and index functions end there: the other ones run, and the object is in no such index.
  /// Those of decoding do, too. Before the watch starts; `barrier` outlives the store. Without one they reach the
  /// caller.
  void shield_with(const ExceptionBarrier& barrier) { barrier_ = &barrier; }
  /// Null: there is none.
  [[nodiscard]] const ExceptionBarrier* barrier() const { return barrier_; }

  // Written by the watch machine, or by a test. `part`: the namespace of a store of several.
  /// Replaces the contents of the part by a full list of it. Objects of a known version are kept and cause no listener
  /// call.
  void swap_in(Objects listed, std::uint64_t revision, const std::string& part = {}) TPUSLICE_EXCLUDES(mutex_);
  /// Makes synced() false until the next list.
  void set_unsynced(const std::string& part = {}) TPUSLICE_EXCLUDES(mutex_);
  /// The same, for tests.
  void replace(std::vector<View> all, std::uint64_t revision) TPUSLICE_EXCLUDES(mutex_);
  void put(View view) TPUSLICE_EXCLUDES(mutex_);
  void erase(const ObjectKey& key, std::uint64_t revision) TPUSLICE_EXCLUDES(mutex_);
  void advance(std::uint64_t revision, const std::string& part = {}) TPUSLICE_EXCLUDES(mutex_);

 private:
  friend class Index<View>;

  struct ByKey {
    bool operator()(const Ptr& a, const Ptr& b) const { return a->key < b->key; }
  };
  /// The values of one object in all indexes. They are not kept: those of a version that is replaced are computed
  /// again.
  using IndexValues = std::vector<std::optional<std::string>>;

  [[nodiscard]] std::vector<Ptr> lookup(std::size_t index, const std::string& value) const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] bool contains(std::size_t index, const std::string& value) const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] IndexValues values_of(const Ptr& view) const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<IndexTable<View>> indexes_of(const Objects& objects) const TPUSLICE_EXCLUDES(mutex_);
  using Changes = std::vector<ViewChange<View>>;
  /// Makes `after` take the place of `before`.
  void change(const ViewChange<View>& change, std::uint64_t revision) TPUSLICE_EXCLUDES(mutex_);
  void apply(const ViewChange<View>& change, const IndexValues& old_values, const IndexValues& values)
      TPUSLICE_REQUIRES(mutex_);
  void notify(const std::vector<Listener>& listeners, const Ptr& before, const Ptr& after) const;
  void replace_all(const Changes& changes, Objects listed, std::uint64_t revision) TPUSLICE_EXCLUDES(mutex_);
  void replace_part(const Changes& changes, std::uint64_t revision, const std::string& part) TPUSLICE_EXCLUDES(mutex_);

  std::vector<Listener> early_listeners_;
  std::vector<Listener> listeners_;
  std::vector<std::shared_ptr<ChangeLog<View>>> logs_;
  std::vector<IndexFunction> index_functions_;
  const ExceptionBarrier* barrier_ = nullptr;
  mutable Mutex mutex_;
  Objects objects_ TPUSLICE_GUARDED_BY(mutex_);
  std::vector<IndexTable<View>> indexes_ TPUSLICE_GUARDED_BY(mutex_);  ///< One for each of index_functions_.
  StoreParts parts_ TPUSLICE_GUARDED_BY(mutex_);
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

template <typename View>
std::optional<AnyStore::Entry> Store<View>::entry(const ObjectKey& key) const {
  const Ptr view = get(key);
  if (!view) return std::nullopt;
  return Entry{view->uid, revision_of(view->resource_version), view->deletion.has_value()};
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
void Store<View>::add_missing(const std::vector<ObjectKey>& keys, std::vector<Ptr>& found) const {
  for (const ObjectKey& key : keys) {
    if (std::ranges::any_of(found, [&](const Ptr& each) { return each->key == key; })) continue;
    if (Ptr view = get(key)) found.push_back(std::move(view));
  }
}

template <typename View>
Index<View> Store<View>::add_index(IndexFunction function) {
  const MutexLock lock(mutex_);
  const auto known = std::ranges::find(index_functions_, function);
  const auto table = static_cast<std::size_t>(known - index_functions_.begin());
  if (known == index_functions_.end()) {
    TPUSLICE_CHECK_MSG(objects_.empty(), "indexes are added before the watch starts");
    index_functions_.push_back(function);
    indexes_.emplace_back();
  }
  return Index<View>(*this, table);
}

template <typename View>
std::vector<typename Store<View>::Ptr> Store<View>::lookup(std::size_t index, const std::string& value) const {
  const MutexLock lock(mutex_);
  return indexes_[index].lookup(value);
}

template <typename View>
bool Store<View>::contains(std::size_t index, const std::string& value) const {
  const MutexLock lock(mutex_);
  return indexes_[index].contains(value);
}

template <typename View>
void Store<View>::replace(std::vector<View> all, std::uint64_t revision) {
  Objects listed;
  listed.reserve(all.size());
  for (View& view : all) listed.insert(std::make_shared<const View>(std::move(view)));
  swap_in(std::move(listed), revision);
}

template <typename View>
void Store<View>::swap_in(Objects listed, std::uint64_t revision, const std::string& part) {
  // Only the caller changes the part.
  Changes changes;
  {
    const MutexLock lock(mutex_);
    changes = list_changes<View>(objects_, listed, part);
  }
  for (const auto& [before, after] : changes) notify(early_listeners_, before, after);
  if (part.empty()) {
    replace_all(changes, std::move(listed), revision);
  } else {
    replace_part(changes, revision, part);
  }
  for (const auto& [before, after] : changes) notify(listeners_, before, after);
}

template <typename View>
void Store<View>::replace_all(const Changes& changes, Objects listed, std::uint64_t revision) {
  // The old ones are destroyed after the lock is released.
  std::vector<IndexTable<View>> indexes;
  if (!changes.empty()) indexes = indexes_of(listed);
  const MutexLock lock(mutex_);
  if (!changes.empty()) {
    objects_.swap(listed);
    indexes_.swap(indexes);
  }
  for (const auto& [before, after] : changes) {
    for (const auto& log : logs_) log->record(before, after);
  }
  parts_.listed("", revision);
}

template <typename View>
void Store<View>::replace_part(const Changes& changes, std::uint64_t revision, const std::string& part) {
  std::vector<std::pair<IndexValues, IndexValues>> values;
  values.reserve(changes.size());
  for (const auto& [before, after] : changes) values.emplace_back(values_of(before), values_of(after));
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < changes.size(); ++i) apply(changes[i], values[i].first, values[i].second);
  parts_.listed(part, revision);
}

template <typename View>
void Store<View>::set_unsynced(const std::string& part) {
  const MutexLock lock(mutex_);
  parts_.set_unsynced(part);
}

template <typename View>
void Store<View>::put(View view) {
  const Ptr before = get(view.key);
  const bool replaced = before && before->uid != view.uid;
  const bool changed = !before || replaced || !equal_except_revision(*before, view);
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
  change({before, after}, revision_of(after->resource_version));
  notify_all(listeners_);
}

template <typename View>
void Store<View>::erase(const ObjectKey& key, std::uint64_t revision) {
  const Ptr before = get(key);
  if (before) {
    notify(early_listeners_, before, nullptr);
    change({before, nullptr}, revision);
    notify(listeners_, before, nullptr);
    return;
  }
  const MutexLock lock(mutex_);
  parts_.advance(key, revision);
}

template <typename View>
void Store<View>::advance(std::uint64_t revision, const std::string& part) {
  const MutexLock lock(mutex_);
  parts_.advance(part, revision);
}

template <typename View>
typename Store<View>::IndexValues Store<View>::values_of(const Ptr& view) const {
  IndexValues values(index_functions_.size());
  if (!view) return values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = run_behind(barrier_, [&] { return index_functions_[i](*view); }).value_or(std::nullopt);
  }
  return values;
}

template <typename View>
std::vector<IndexTable<View>> Store<View>::indexes_of(const Objects& objects) const {
  std::vector<Ptr> sorted(objects.begin(), objects.end());
  std::sort(sorted.begin(), sorted.end(), ByKey{});
  std::vector<IndexTable<View>> indexes(index_functions_.size());
  for (const Ptr& view : sorted) {
    IndexValues values = values_of(view);
    for (std::size_t i = 0; i < values.size(); ++i) {
      indexes[i].append(view, std::move(values[i]));
    }
  }
  return indexes;
}

template <typename View>
void Store<View>::change(const ViewChange<View>& change, std::uint64_t revision) {
  const IndexValues old_values = values_of(change.before);
  const IndexValues values = values_of(change.after);
  const MutexLock lock(mutex_);
  apply(change, old_values, values);
  parts_.advance((change.after ? change.after : change.before)->key, revision);
}

template <typename View>
void Store<View>::apply(const ViewChange<View>& change, const IndexValues& old_values, const IndexValues& values) {
  const auto& [before, after] = change;
  for (std::size_t i = 0; i < values.size(); ++i) indexes_[i].change(before, old_values[i], after, values[i]);
  if (before) objects_.erase(before);
  if (after) objects_.insert(after);
  for (const auto& log : logs_) log->record(before, after);
}

template <typename View>
void Store<View>::notify(const std::vector<Listener>& listeners, const Ptr& before, const Ptr& after) const {
  for (const Listener& listener : listeners) (void)run_behind(barrier_, [&] { listener(before, after); });
}

}  // namespace tpuslice::runtime
