// What an update changes in a part of an object, field by field, for rules of immutability.
#pragma once

#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::webhook {

struct FieldChange {
  std::string path;
  Json before;  ///< null: absent
  Json after;   ///< null: absent
};

/// The changes from `before` to `after`, at `path`: the deepest paths that differ, or the list where elements came or
/// went.
///
/// Compares as Kubernetes compares decoded objects: programs written in Go send back other JSON than they received.
/// They drop what is null, empty or a zero that cannot be told from absence, add "metadata": {"creationTimestamp":
/// null} and "resources": {}, and print quantities in their canonical form.
[[nodiscard]] std::vector<FieldChange> field_changes(const Json& before, const Json& after, const std::string& path);

}  // namespace tpuslice::webhook
