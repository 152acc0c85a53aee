// DueKeys: which objects a controller is to look at, and when. Each key is there once, for the earliest time asked for.
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
  /// Takes out those that are due by `now`, the earliest first.
  [[nodiscard]] std::vector<ObjectKey> take(Instant now);
  [[nodiscard]] std::optional<Instant> next() const;

 private:
  std::map<ObjectKey, Instant> due_;
  std::set<std::pair<Instant, ObjectKey>> queue_;
};

}  // namespace tpuslice::sim
