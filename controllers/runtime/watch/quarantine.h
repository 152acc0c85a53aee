// Quarantine: the objects of a watch that cannot be read whole, and what is said about them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/base/result.h"
#include "api/types/object.h"
#include "api/types/resource_type.h"

namespace tpuslice::runtime {

/// An object that cannot be decoded, is too long, or is refused because its namespace has too many. Other objects are
/// not affected.
struct QuarantinedObject {
  ResourceType type;
  ObjectKey key;  ///< The key as far as it can be read; so is the uid.
  std::string uid;
  Error error;
};

/// Logs and reports an object at once, then at growing intervals, however often it changes: users choose how often
/// that is. Used by one thread.
class Quarantine {
 public:
  /// False: not now, for example because this replica does not lead. Then it is called again later.
  using Report = std::function<bool(const QuarantinedObject&)>;

  /// `counter` counts the versions that could not be read.
  explicit Quarantine(Counter& counter, Logger log) : counter_(counter), log_(std::move(log)) {}

  void on_report(Report report) { report_ = std::move(report); }

  /// A version of the object could not be read.
  void add(const QuarantinedObject& object, Instant now);
  /// A version was read whole, or the object is gone.
  void remove(const ObjectKey& key);
  [[nodiscard]] bool empty() const { return entries_.empty(); }

  void begin_list() { ++list_; }
  /// The objects that were not added since begin_list() are gone, or were read.
  void end_list();

  /// Reports the objects that are still to be reported. Cheap if called often.
  void report_pending(Instant now);

 private:
  struct Entry {
    QuarantinedObject object;
    bool current = true;  ///< The last version could not be read.
    bool reported = false;
    std::uint64_t list = 0;
    std::uint64_t versions = 0;  ///< Number since it was last logged.
    Duration interval = Duration::zero();
    Instant next_log = Instant::min();
    Instant report_at = Instant::min();  ///< Not before, unless it is logged.
  };

  /// Null if there are too many.
  Entry* find_or_add(const QuarantinedObject& object, Instant now);
  void report(Entry& entry);

  Counter& counter_;
  const Logger log_;
  Report report_;
  std::unordered_map<ObjectKey, Entry> entries_;
  std::uint64_t list_ = 0;
  Instant report_due_ = Instant::min();
};

}  // namespace tpuslice::runtime
