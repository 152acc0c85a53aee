// Storage: the etcd of the simulated cluster. Versioned objects, one revision counter, a history that can be compacted.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/mutex.h"
#include "api/types/object.h"

namespace tpuslice::sim {

using Revision = std::uint64_t;

/// metadata.resourceVersion as a number; 0 if absent.
[[nodiscard]] Revision revision_of(const Json& object);
using JsonPtr = std::shared_ptr<const Json>;

enum class ChangeType : std::uint8_t { kAdded, kModified, kDeleted };

/// One write, as a watch sees it.
struct Change {
  Revision revision = 0;
  ChangeType type = ChangeType::kAdded;
  std::string resource;  ///< ResourceType::resource(): "pods", "rayclusters.ray.io".
  ObjectKey key;
  JsonPtr object;    ///< After the write; for kDeleted the last state, with metadata.resourceVersion of the deletion.
  JsonPtr previous;  ///< Before it; null for kAdded.
};

/// Thread-safe. Of Kubernetes it knows only metadata.resourceVersion, which it sets.
class Storage {
 public:
  /// Keeps at most `history` changes; older ones are compacted.
  explicit Storage(std::size_t history = 100'000);

  [[nodiscard]] Revision revision() const;
  /// The oldest revision a watch may still start from.
  [[nodiscard]] Revision compacted() const;

  [[nodiscard]] JsonPtr get(std::string_view resource, const ObjectKey& key) const;
  /// Sorted by namespace, then name. An empty namespace means all.
  [[nodiscard]] std::vector<JsonPtr> list(std::string_view resource, std::string_view namespace_name = {}) const;
  /// The same, as it was at `revision`. Errors: Expired if that is compacted.
  [[nodiscard]] Result<std::vector<JsonPtr>> list_at(std::string_view resource, std::string_view namespace_name,
                                                     Revision revision) const;

  /// Errors: AlreadyExists.
  Result<JsonPtr> create(std::string_view resource, const ObjectKey& key, Json object);
  /// Errors: NotFound; Conflict unless the object is at `expected` (when given).
  Result<JsonPtr> update(std::string_view resource, const ObjectKey& key, Json object,
                         std::optional<Revision> expected);
  /// Returns the last state. Errors: as update.
  Result<JsonPtr> remove(std::string_view resource, const ObjectKey& key, std::optional<Revision> expected);

  /// The changes, at most `limit`, of `resource` (all resources when empty) after `after`, oldest first. Errors:
  /// Expired.
  [[nodiscard]] Result<std::vector<Change>> changes(std::string_view resource, Revision after,
                                                    std::size_t limit = 1000) const;
  /// Forgets the history up to and including `revision`.
  void compact(Revision revision);

  /// Returns when the revision is past `after`, after `wait`, or on stop.
  void wait_past(Revision after, Duration wait, const std::stop_token& stop) const TPUSLICE_EXCLUDES(mutex_);

 private:
  void record(Change change) TPUSLICE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  Revision revision_ TPUSLICE_GUARDED_BY(mutex_) = 1;
  Revision compacted_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::map<ObjectKey, JsonPtr>, std::less<>> objects_ TPUSLICE_GUARDED_BY(mutex_);
  std::deque<Change> history_ TPUSLICE_GUARDED_BY(mutex_);
  const std::size_t history_limit_;
};

}  // namespace tpuslice::sim
