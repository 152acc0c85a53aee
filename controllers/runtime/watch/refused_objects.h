// RefusedObjects: the objects of one watch that did not fit into the memory budget, and whether they would now.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "api/types/object.h"
#include "controllers/runtime/watch/memory_budget.h"

namespace tpuslice::runtime {

/// Error::reason() of an object that does not fit into the memory budget of its namespace.
inline constexpr std::string_view kOverMemoryBudget = "OverMemoryBudget";

/// Remembers the smallest of each namespace. Not thread-safe.
class RefusedObjects {
 public:
  explicit RefusedObjects(const MemoryBudget& budget) : budget_(budget) {}

  /// An object of `bytes` did not fit.
  void add(const std::string& namespace_name, std::size_t bytes);
  void forget() { smallest_.clear(); }
  /// Whether the whole object fits now; its minimal view counts, too.
  [[nodiscard]] bool fits_again() const;

  /// Says what is missing and what helps. `kept`: "nothing of it is kept".
  [[nodiscard]] Error error(const ResourceType& type, const ObjectKey& key, std::size_t bytes,
                            std::string_view kept) const;

 private:
  const MemoryBudget& budget_;
  std::map<std::string, std::size_t> smallest_;  ///< By namespace.
};

}  // namespace tpuslice::runtime
