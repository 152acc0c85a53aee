// RefusedObjects: the objects of one watch that had no room, and whether they would have some now.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "api/types/object.h"
#include "controllers/runtime/memory_budget.h"

namespace tpuslice::runtime {

/// Error::reason() of an object that its namespace has no room for.
inline constexpr std::string_view kNoRoom = "NoRoom";

/// Remembers the smallest of each namespace. Not thread-safe.
class RefusedObjects {
 public:
  explicit RefusedObjects(const MemoryBudget& budget) : budget_(budget) {}

  /// An object of `bytes` had no room.
  void add(const std::string& namespace_name, std::size_t bytes);
  void forget() { smallest_.clear(); }
  /// Asks for room for the whole object, although its minimal view makes some.
  [[nodiscard]] bool has_room_again() const;

  /// Says what is missing and what helps. `kept`: "nothing of it is kept".
  [[nodiscard]] Error error(const ResourceType& type, const ObjectKey& key, std::size_t bytes,
                            std::string_view kept) const;

 private:
  const MemoryBudget& budget_;
  std::map<std::string, std::size_t> smallest_;  ///< By namespace.
};

}  // namespace tpuslice::runtime
