#include "cmd/tpu-slice-sim/storage/storage.h"

#include <algorithm>

#include "api/base/strings.h"

namespace tpuslice::sim {
namespace {

void stamp(Json& object, Revision revision) { object["metadata"]["resourceVersion"] = std::to_string(revision); }

Error expired(Revision asked, Revision current) {
  return Error::of(ErrorCode::kExpired, "too old resource version: {} ({})", asked, current).with_reason("Expired");
}

Error stale(std::string_view resource, const ObjectKey& key) {
  return Error::conflict(
             "Operation cannot be fulfilled on {} \"{}\": the object has been modified; please apply your changes to "
             "the latest version and try again",
             resource, key.name)
      .with_reason("Conflict");
}

Error missing(std::string_view resource, const ObjectKey& key) {
  return Error::not_found("{} \"{}\" not found", resource, key.name).with_reason("NotFound");
}

using ObjectMap = std::map<ObjectKey, JsonPtr>;

/// Keys sort by namespace first, so a namespace is one range.
std::pair<ObjectMap::const_iterator, ObjectMap::const_iterator> range(const ObjectMap& objects,
                                                                      std::string_view namespace_name) {
  if (namespace_name.empty()) return {objects.begin(), objects.end()};
  const auto first = objects.lower_bound({std::string(namespace_name), ""});
  auto last = first;
  while (last != objects.end() && last->first.namespace_name == namespace_name) ++last;
  return {first, last};
}

std::vector<JsonPtr> values(const ObjectMap& objects, std::string_view namespace_name) {
  std::vector<JsonPtr> found;
  if (namespace_name.empty()) found.reserve(objects.size());
  const auto [first, last] = range(objects, namespace_name);
  for (auto it = first; it != last; ++it) found.push_back(it->second);
  return found;
}

}  // namespace

Revision revision_of(const Json& object) {
  return parse_integer<Revision>(string_at(object, {"metadata", "resourceVersion"})).value_or(0);
}

Storage::Storage(std::size_t history) : history_limit_(history) {}

Revision Storage::revision() const {
  const MutexLock lock(mutex_);
  return revision_;
}

Revision Storage::compacted() const {
  const MutexLock lock(mutex_);
  return compacted_;
}

JsonPtr Storage::get(std::string_view resource, const ObjectKey& key) const {
  const MutexLock lock(mutex_);
  const auto objects = objects_.find(resource);
  if (objects == objects_.end()) return nullptr;
  const auto found = objects->second.find(key);
  return found == objects->second.end() ? nullptr : found->second;
}

std::vector<JsonPtr> Storage::list(std::string_view resource, std::string_view namespace_name) const {
  const MutexLock lock(mutex_);
  const auto objects = objects_.find(resource);
  return objects == objects_.end() ? std::vector<JsonPtr>() : values(objects->second, namespace_name);
}

Result<std::vector<JsonPtr>> Storage::list_at(std::string_view resource, std::string_view namespace_name,
                                              Revision revision) const {
  const MutexLock lock(mutex_);
  if (revision < compacted_) return expired(revision, revision_);
  const auto objects = objects_.find(resource);
  if (objects == objects_.end()) return std::vector<JsonPtr>();
  if (history_.empty() || history_.back().revision <= revision) return values(objects->second, namespace_name);
  // Revert later changes, newest first.
  ObjectMap then;
  const auto [first, last] = range(objects->second, namespace_name);
  then.insert(first, last);
  for (auto change = history_.rbegin(); change != history_.rend() && change->revision > revision; ++change) {
    if (change->resource != resource) continue;
    if (!namespace_name.empty() && change->key.namespace_name != namespace_name) continue;
    if (change->previous) {
      then[change->key] = change->previous;
    } else {
      then.erase(change->key);
    }
  }
  return values(then, {});
}

void Storage::record(Change change) {
  history_.push_back(std::move(change));
  while (history_.size() > history_limit_) {
    compacted_ = history_.front().revision;
    history_.pop_front();
  }
  changed_.notify_all();
}

Result<JsonPtr> Storage::create(std::string_view resource, const ObjectKey& key, Json object) {
  const MutexLock lock(mutex_);
  ObjectMap& objects = objects_[std::string(resource)];
  if (objects.contains(key)) {
    return Error::of(ErrorCode::kAlreadyExists, "{} \"{}\" already exists", resource, key.name)
        .with_reason("AlreadyExists");
  }
  stamp(object, ++revision_);
  auto stored = std::make_shared<const Json>(std::move(object));
  objects.emplace(key, stored);
  record({revision_, ChangeType::kAdded, std::string(resource), key, stored, nullptr});
  return JsonPtr(std::move(stored));
}

Result<JsonPtr> Storage::update(std::string_view resource, const ObjectKey& key, Json object,
                                std::optional<Revision> expected) {
  const MutexLock lock(mutex_);
  ObjectMap& objects = objects_[std::string(resource)];
  const auto found = objects.find(key);
  if (found == objects.end()) return missing(resource, key);
  JsonPtr previous = found->second;
  if (expected && revision_of(*previous) != *expected) return stale(resource, key);
  stamp(object, ++revision_);
  auto stored = std::make_shared<const Json>(std::move(object));
  found->second = stored;
  record({revision_, ChangeType::kModified, std::string(resource), key, stored, std::move(previous)});
  return JsonPtr(std::move(stored));
}

Result<JsonPtr> Storage::remove(std::string_view resource, const ObjectKey& key, std::optional<Revision> expected) {
  const MutexLock lock(mutex_);
  ObjectMap& objects = objects_[std::string(resource)];
  const auto found = objects.find(key);
  if (found == objects.end()) return missing(resource, key);
  JsonPtr previous = found->second;
  if (expected && revision_of(*previous) != *expected) return stale(resource, key);
  Json last = *previous;
  stamp(last, ++revision_);
  auto final_state = std::make_shared<const Json>(std::move(last));
  objects.erase(found);
  record({revision_, ChangeType::kDeleted, std::string(resource), key, final_state, std::move(previous)});
  return JsonPtr(std::move(final_state));
}

Result<std::vector<Change>> Storage::changes(std::string_view resource, Revision after, std::size_t limit) const {
  const MutexLock lock(mutex_);
  if (after < compacted_) return expired(after, revision_);
  std::vector<Change> found;
  auto next = std::upper_bound(history_.begin(), history_.end(), after,
                               [](Revision revision, const Change& change) { return revision < change.revision; });
  for (; next != history_.end() && found.size() < limit; ++next) {
    if (resource.empty() || next->resource == resource) found.push_back(*next);
  }
  return found;
}

void Storage::compact(Revision revision) {
  const MutexLock lock(mutex_);
  compacted_ = std::max(compacted_, std::min(revision, revision_));
  while (!history_.empty() && history_.front().revision <= compacted_) history_.pop_front();
}

void Storage::wait_past(Revision after, Duration wait, const std::stop_token& stop) const {
  const MutexLock lock(mutex_);
  changed_.wait_for(mutex_, stop, wait, [this, after]() TPUSLICE_REQUIRES(mutex_) { return revision_ > after; });
}

}  // namespace tpuslice::sim
