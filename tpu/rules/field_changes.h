// The fields that an update changes, for immutability rules.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::rules {

struct FieldChange {
  std::string path;
  Json before;  ///< Null if absent.
  Json after;   ///< Null if absent.
};

/// The changes from `before` to `after`, which are at `path`: the deepest paths that differ, or the whole list if its
/// length differs.
///
/// Compares like Kubernetes compares decoded objects, since clients in Go change the JSON of an object without changing
/// its meaning: they omit null, empty and zero values, add "metadata": {"creationTimestamp": null} and "resources": {},
/// and print quantities in canonical form.
[[nodiscard]] std::vector<FieldChange> field_changes(const Json& before, const Json& after, const std::string& path);

/// Calls `visit` for each, so that they need not all be kept.
void for_each_change(const Json& before, const Json& after, const std::string& path,
                     const std::function<void(FieldChange&& change)>& visit);

}  // namespace tpuslice::rules
