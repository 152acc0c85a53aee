// WriteLedger: read-your-writes. A key is planned again only when the stores show what was last written for it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "controllers/runtime/watch/store.h"

namespace tpuslice::runtime {

/// One write that the API server accepted.
struct Write {
  ResourceType type;
  ObjectKey key;
  std::string uid;
  std::uint64_t revision = 0;  ///< 0 if the server returned none (an object deleted at once).
  bool deleted = false;
};

/// A write that did not appear in the stores in time.
struct ExpiredWrite {
  ObjectKey owner;
  Write write;
};

/// Writes to a type without a store are not waited for. Of several stores of a type, which differ in their selectors,
/// the one that held the object before must show the write; for a new object any one of them, or all must be past its
/// revision. After `expiry` a write is dropped and reported.
///
/// Thread-safe once the stores are added.
class WriteLedger {
 public:
  explicit WriteLedger(Duration expiry = std::chrono::seconds(30)) : expiry_(expiry) {}

  /// Borrows the store.
  void add_store(const AnyStore& store) { stores_.push_back(&store); }
  /// Called, without a lock held, for each expired write.
  void on_expired(std::function<void(const ExpiredWrite&)> callback);

  void record(const ObjectKey& owner, std::vector<Write> writes, Instant now) TPUSLICE_EXCLUDES(mutex_);
  /// True if the stores show every write of `owner`. Forgets the writes that they show.
  [[nodiscard]] bool satisfied(const ObjectKey& owner, Instant now) TPUSLICE_EXCLUDES(mutex_);
  /// Number of writes of `owner` that the stores did not show when it was looked at last.
  [[nodiscard]] std::size_t unseen(const ObjectKey& owner) const TPUSLICE_EXCLUDES(mutex_);
  /// Number of owners with unseen writes.
  [[nodiscard]] std::size_t size() const TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Pending {
    Write write;
    Instant expires;
    const AnyStore* home = nullptr;  ///< The store that must show it; null: any.
  };
  [[nodiscard]] bool seen(const Pending& pending) const;
  [[nodiscard]] std::vector<const AnyStore*> stores_of(const ResourceType& type) const;
  [[nodiscard]] const AnyStore* home_of(const Write& write) const;

  const Duration expiry_;
  std::vector<const AnyStore*> stores_;
  std::function<void(const ExpiredWrite&)> expired_;
  mutable Mutex mutex_;
  std::unordered_map<ObjectKey, std::deque<Pending>> pending_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::runtime
