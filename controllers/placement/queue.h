// Queue: the slices that wait for domains, in order, and what the waiting reasons of the others say of them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/placement/domains/candidates.h"

namespace tpuslice::placement {

/// Not thread-safe.
class Queue {
 public:
  /// A slice with these candidates waits, after those that were added before. `name`: its display_name().
  void add(const Candidates& candidates, std::string name);
  /// "; 2 slices are ahead of it in the queue: default/a (tpu-0), default/b (tpu-0)" for the next slice with these
  /// candidates; empty if it is the first. `viewer`: the namespace that reads it; only its own workloads are named.
  [[nodiscard]] std::string ahead_of(const Candidates& candidates, std::string_view viewer) const;

 private:
  /// So many are named.
  static constexpr std::size_t kMaxNames = 3;

  std::map<const Candidates*, std::vector<std::string>> names_;
};

}  // namespace tpuslice::placement
