// WriteLedger: read-your-writes. A key is planned again only when the stores show what was last written for it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "controllers/runtime/store.h"

namespace tpuslice::runtime {

/// One write that the API server accepted.
struct Write {
  ResourceType type;
  ObjectKey key;
  std::string uid;
  std::uint64_t revision = 0;  ///< 0 where the server told none (an object deleted at once).
  bool deleted = false;
};

/// What the ledger asks of a store.
class StoreProbe {
 public:
  struct Seen {
    std::string uid;
    std::uint64_t revision = 0;
    bool terminating = false;
  };

  virtual ~StoreProbe() = default;
  [[nodiscard]] virtual const ResourceType& type() const = 0;
  [[nodiscard]] virtual std::uint64_t revision() const = 0;
  [[nodiscard]] virtual std::optional<Seen> find(const ObjectKey& key) const = 0;
};

/// The probe of a Store; borrows it.
template <typename View>
[[nodiscard]] std::unique_ptr<StoreProbe> probe_of(const Store<View>& store);

/// What stopped being waited for without having been seen.
struct ExpiredWrite {
  ObjectKey owner;
  Write write;
};

/// A write to a type without a probe is not waited for. Of several stores of a type, which differ in their selectors,
/// the one that held the object before has to show the write; of a new object any one, or all that they are beyond it.
/// What is not shown is given up after a time, and reported.
///
/// Thread-safe once the probes are added.
class WriteLedger {
 public:
  explicit WriteLedger(Duration expiry = std::chrono::seconds(30)) : expiry_(expiry) {}

  void add_probe(std::unique_ptr<StoreProbe> probe);
  /// Called, without a lock held, for each write given up.
  void on_expired(std::function<void(const ExpiredWrite&)> callback);

  void record(const ObjectKey& owner, std::vector<Write> writes, Instant now) TPUSLICE_EXCLUDES(mutex_);
  /// True if `owner` may be planned. Forgets what has been seen.
  [[nodiscard]] bool satisfied(const ObjectKey& owner, Instant now) TPUSLICE_EXCLUDES(mutex_);
  /// Owners with writes not seen yet.
  [[nodiscard]] std::size_t size() const TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Pending {
    Write write;
    Instant expires;
    const StoreProbe* home = nullptr;  ///< The store that has to show it; null: any.
  };
  [[nodiscard]] bool seen(const Pending& pending) const;
  [[nodiscard]] std::vector<const StoreProbe*> probes_of(const ResourceType& type) const;
  [[nodiscard]] const StoreProbe* home_of(const Write& write) const;

  const Duration expiry_;
  std::vector<std::unique_ptr<StoreProbe>> probes_;
  std::function<void(const ExpiredWrite&)> expired_;
  mutable Mutex mutex_;
  std::unordered_map<ObjectKey, std::deque<Pending>> pending_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::runtime
