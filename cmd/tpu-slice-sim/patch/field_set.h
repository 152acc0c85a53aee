// FieldSet: a set of fields of an object, the FieldsV1 of metadata.managedFields.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/resources/resources.h"

namespace tpuslice::sim {

/// A tree of path elements as FieldsV1 spells them: f:<name>, k:<keys of a list item>, v:<member of a set>.
struct FieldSet {
  bool member = false;  ///< This path itself is in the set.
  std::map<std::string, FieldSet> children;

  [[nodiscard]] bool empty() const { return !member && children.empty(); }
  [[nodiscard]] const FieldSet* child(const std::string& element) const;
  /// ".spec.containers[name=\"a\"].image" of every member.
  [[nodiscard]] std::vector<std::string> paths() const;

  friend bool operator==(const FieldSet&, const FieldSet&) = default;
};

/// Unknown path elements are dropped.
[[nodiscard]] FieldSet fields_from_json(const Json& fields_v1);
[[nodiscard]] Json fields_to_json(const FieldSet& set);
[[nodiscard]] FieldSet set_union(const FieldSet& a, const FieldSet& b);
[[nodiscard]] FieldSet set_intersection(const FieldSet& a, const FieldSet& b);
[[nodiscard]] FieldSet set_difference(const FieldSet& a, const FieldSet& b);

/// How a value is divided into parts that different managers can own.
enum class Shape : std::uint8_t { kLeaf, kMap, kKeyedList, kSet };

/// A position in the schema of a resource; without a schema, the structure is deduced from values.
class SchemaCursor {
 public:
  /// The root of the schema. `resource` outlives the cursor.
  static SchemaCursor root(const Resource& resource);

  [[nodiscard]] Shape shape(const Json& value) const;
  [[nodiscard]] SchemaCursor member(const std::string& name) const;
  [[nodiscard]] SchemaCursor item() const;
  /// Whether the type declares the member; others are keys of a map.
  [[nodiscard]] bool declares(const std::string& name) const;
  /// "k:..." of an item of a keyed list, "v:..." of a set; keys left out count with their defaults.
  [[nodiscard]] std::string element_of(const Json& item) const;

 private:
  const Json* schema_ = nullptr;
  bool root_ = false;
};

/// All fields of `object`, which an apply of it owns.
[[nodiscard]] FieldSet fields_of(const SchemaCursor& schema, const Json& object);

struct Comparison {
  FieldSet changed;  ///< Added or modified.
  FieldSet removed;
};
[[nodiscard]] Comparison compare_fields(const SchemaCursor& schema, const Json& before, const Json& after);

}  // namespace tpuslice::sim
