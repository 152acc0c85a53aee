#include "controllers/runtime/store.h"

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>

namespace tpuslice::runtime {
namespace {

/// Nothing that a reconciler could see differs. Whole objects differ whenever they were written.
template <typename View>
bool same_but_for_revision(const View& before, const View& after) {
  if constexpr (std::is_same_v<View, ObjectView>) return false;
  View copy = before;
  copy.resource_version = after.resource_version;
  return copy == after;
}

}  // namespace

std::uint64_t revision_of(std::string_view resource_version) {
  std::uint64_t value = 0;
  const char* const end = resource_version.data() + resource_version.size();
  const auto [stopped, error] = std::from_chars(resource_version.data(), end, value);
  return error == std::errc() && stopped == end ? value : 0;
}

template <typename View>
Store<View>::Store(ResourceType type, Index index) : type_(type) {
  if (index) add_index(std::move(index));
}

template <typename View>
typename Store<View>::Ptr Store<View>::get(const ObjectKey& key) const {
  const MutexLock lock(mutex_);
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : found->second;
}

template <typename View>
std::vector<typename Store<View>::Ptr> Store<View>::lookup(std::string_view index_value) const {
  std::vector<Ptr> found;
  const MutexLock lock(mutex_);
  const auto group = groups_.find(std::string(index_value));
  if (group == groups_.end()) return found;
  found.assign(group->second.begin(), group->second.end());
  return found;
}

template <typename View>
std::vector<typename Store<View>::Ptr> Store<View>::list() const {
  std::vector<Ptr> all;
  {
    const MutexLock lock(mutex_);
    all.reserve(objects_.size());
    for (const auto& [key, view] : objects_) all.push_back(view);
  }
  std::sort(all.begin(), all.end(), [](const Ptr& a, const Ptr& b) { return a->key < b->key; });
  return all;
}

template <typename View>
std::size_t Store<View>::size() const {
  const MutexLock lock(mutex_);
  return objects_.size();
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
void Store<View>::add_index(Index index) {
  indexes_.push_back(std::move(index));
}

template <typename View>
void Store<View>::add_listener(Listener listener) {
  listeners_.push_back(std::move(listener));
}

template <typename View>
void Store<View>::replace(std::vector<View> all, std::uint64_t revision) {
  std::vector<Ptr> fresh;
  fresh.reserve(all.size());
  for (View& view : all) fresh.push_back(std::make_shared<const View>(std::move(view)));

  std::vector<std::pair<Ptr, Ptr>> changes;
  {
    const MutexLock lock(mutex_);
    std::unordered_map<ObjectKey, Ptr> old = std::move(objects_);
    objects_.clear();
    groups_.clear();
    objects_.reserve(fresh.size());
    for (const Ptr& view : fresh) {
      Ptr before;
      if (const auto known = old.find(view->key); known != old.end()) {
        before = known->second;
        old.erase(known);
      }
      insert_locked(view);
      if (before && before->uid != view->uid) {
        changes.emplace_back(before, nullptr);
        before = nullptr;
      }
      if (!before || before->resource_version != view->resource_version) changes.emplace_back(before, view);
    }
    // insert_locked keeps groups sorted; what is left in `old` was deleted while nobody watched.
    for (const auto& [key, view] : old) changes.emplace_back(view, nullptr);
    // A list is the truth even when it is older than what was seen: the API server may have been restored.
    revision_ = revision;
    synced_ = true;
  }
  for (const auto& [before, after] : changes) notify(before, after);
}

template <typename View>
void Store<View>::put(View view) {
  const Ptr after = std::make_shared<const View>(std::move(view));
  Ptr before;
  {
    const MutexLock lock(mutex_);
    if (const auto known = objects_.find(after->key); known != objects_.end()) before = known->second;
    if (before) remove_locked(after->key);
    insert_locked(after);
    revision_ = std::max(revision_, revision_of(after->resource_version));
  }
  if (before && before->uid != after->uid) {
    notify(before, nullptr);
    before = nullptr;
  }
  if (!before || !same_but_for_revision(*before, *after)) notify(before, after);
}

template <typename View>
void Store<View>::erase(const ObjectKey& key, std::uint64_t revision) {
  Ptr before;
  {
    const MutexLock lock(mutex_);
    if (const auto known = objects_.find(key); known != objects_.end()) before = known->second;
    if (before) remove_locked(key);
    revision_ = std::max(revision_, revision);
  }
  if (before) notify(before, nullptr);
}

template <typename View>
void Store<View>::advance(std::uint64_t revision) {
  const MutexLock lock(mutex_);
  revision_ = std::max(revision_, revision);
}

template <typename View>
void Store<View>::insert_locked(Ptr view) {
  for (const std::string& value : groups_of(*view)) groups_[value].insert(view);
  const ObjectKey key = view->key;
  objects_.insert_or_assign(key, std::move(view));
}

template <typename View>
void Store<View>::remove_locked(const ObjectKey& key) {
  const auto known = objects_.find(key);
  if (known == objects_.end()) return;
  for (const std::string& value : groups_of(*known->second)) {
    const auto group = groups_.find(value);
    if (group == groups_.end()) continue;
    group->second.erase(known->second);
    if (group->second.empty()) groups_.erase(group);
  }
  objects_.erase(known);
}

template <typename View>
std::vector<std::string> Store<View>::groups_of(const View& view) const {
  std::vector<std::string> groups;
  for (const Index& index : indexes_) {
    for (std::string& group : index(view)) groups.push_back(std::move(group));
  }
  return groups;
}

template <typename View>
void Store<View>::notify(const Ptr& before, const Ptr& after) const {
  for (const Listener& listener : listeners_) listener(before, after);
}

template class Store<PodView>;
template class Store<NodeView>;
template class Store<JobView>;
template class Store<StatefulSetView>;
template class Store<ServiceView>;
template class Store<ObjectView>;

}  // namespace tpuslice::runtime
