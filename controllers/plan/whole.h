// Objects of which a store keeps only a minimal view (api/types/views.h): no plan is made from these.
//
// A minimal object exists, but what it has is unknown: a RayCluster without groups would look like one whose groups
// were removed, a pod without a template hash like an outdated one. So a workload is left as it is while it, or an
// object that its plan reads, is minimal. It is planned again when the object is whole, which is a change of the store.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "controllers/plan/plan.h"

namespace tpuslice::plan {

inline constexpr std::string_view kNotRead = "ObjectNotRead";  ///< Reason of the event.

/// The key of a minimal object; null if `view` is whole or null.
template <typename View>
[[nodiscard]] const ObjectKey* find_minimal(const std::shared_ptr<const View>& view) {
  return view != nullptr && view->minimal ? &view->key : nullptr;
}
template <typename View>
[[nodiscard]] const ObjectKey* find_minimal(const std::vector<std::shared_ptr<const View>>& views) {
  for (const auto& view : views) {
    if (view != nullptr && view->minimal) return &view->key;
  }
  return nullptr;
}

/// A plan that does nothing, for `workload`, of which `child` is minimal.
[[nodiscard]] Plan leave_as_it_is(const ObjectKey& workload, const ObjectKey& child);

/// The plan of leave_as_it_is(), if one of `seen`, views or lists of views, is minimal.
template <typename... Seen>
[[nodiscard]] std::optional<Plan> wait_until_whole(const ObjectKey& workload, const Seen&... seen) {
  const ObjectKey* minimal = nullptr;
  (void)((minimal = find_minimal(seen), minimal != nullptr) || ...);
  if (minimal == nullptr) return std::nullopt;
  return leave_as_it_is(workload, *minimal);
}

}  // namespace tpuslice::plan
