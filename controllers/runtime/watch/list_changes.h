// What a list of all objects changes in a store.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/types/views.h"

namespace tpuslice::runtime {

/// Whether a store that has `known` stays as it is when `listed` is listed. A whole view takes the place of a minimal
/// one of the same version, and vice versa.
template <typename View>
[[nodiscard]] bool is_same_version(const View& known, const View& listed) {
  if constexpr (requires { known.minimal; }) {
    if (known.minimal != listed.minimal) return false;
  }
  return known.uid == listed.uid && known.resource_version == listed.resource_version;
}

/// Whether the two differ only in resourceVersion. `after` is unchanged when it returns.
template <typename View>
[[nodiscard]] bool equal_except_revision(const View& before, View& after) {
  std::string revision = std::exchange(after.resource_version, before.resource_version);
  const bool equal = before == after;
  after.resource_version = std::move(revision);
  return equal;
}
/// The text of a whole object contains its resourceVersion.
[[nodiscard]] inline bool equal_except_revision(const ObjectView& /*before*/, ObjectView& /*after*/) { return false; }

template <typename View>
struct ViewChange {
  std::shared_ptr<const View> before;  ///< Null: it is added.
  std::shared_ptr<const View> after;   ///< Null: it is deleted.
};

/// What makes `known` equal `listed`, sorted by key; only the objects of the namespace `part`, unless it is empty.
/// Known versions take their places in `listed`. `Objects`: Store<View>::Objects.
template <typename View, typename Objects>
[[nodiscard]] std::vector<ViewChange<View>> list_changes(const Objects& known, Objects& listed,
                                                         const std::string& part) {
  std::vector<ViewChange<View>> changes;
  std::vector<std::shared_ptr<const View>> kept;
  for (const auto& view : listed) {
    const auto found = known.find(view->key);
    const std::shared_ptr<const View> before = found == known.end() ? nullptr : *found;
    if (before && is_same_version(*before, *view)) {
      if (before != view) kept.push_back(before);
      continue;
    }
    if (before && before->uid != view->uid) {
      changes.push_back({before, nullptr});
      changes.push_back({nullptr, view});
    } else {
      changes.push_back({before, view});
    }
  }
  // Objects that are not listed were deleted while no watch was open.
  for (const auto& view : known) {
    const bool is_in_part = part.empty() || view->key.namespace_name == part;
    if (is_in_part && !listed.contains(view->key)) changes.push_back({view, nullptr});
  }
  for (const auto& view : kept) {
    listed.erase(view);
    listed.insert(view);
  }
  // The sort is stable, so the two changes of a replaced object stay in order.
  std::ranges::stable_sort(changes, {}, [](const ViewChange<View>& change) -> const ObjectKey& {
    return change.after ? change.after->key : change.before->key;
  });
  return changes;
}

}  // namespace tpuslice::runtime
