// DueKeys: the keys that a controller must reconcile, each once, at the earliest requested time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/types/object.h"

namespace tpuslice::sim {

class DueKeys {
 public:
  void add(const ObjectKey& key, Instant when);
  void remove(const ObjectKey& key);
  void clear();
  /// Removes and returns the keys that are due, earliest first.
  [[nodiscard]] std::vector<ObjectKey> take(Instant now);
  [[nodiscard]] std::optional<Instant> next() const;

 private:
  std::map<ObjectKey, Instant> due_;
  std::set<std::pair<Instant, ObjectKey>> queue_;
};

}  // namespace tpuslice::sim
