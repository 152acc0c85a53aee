// The schema of a custom resource as a table: type, bounds, supported values and presence of its fields. Validators use
// it since the installed CRD may be another version, and controllers validate objects again.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

enum class FieldType : std::uint8_t { kObject, kList, kString, kBoolean, kInteger, kInt32 };

/// One field. Null counts as absent, except as an element of a list.
struct FieldShape {
  std::string_view path;  ///< "spec.replicatedJobs.*.name": "*" stands for every element of a list.
  FieldType type = FieldType::kObject;
  bool required = false;         ///< If its parent is present.
  std::string_view values = {};  ///< "All|Any": the supported strings, "All|" also the empty one; empty: any.
  std::size_t max = 0;           ///< Elements of a list; 0 is unlimited.
  bool negative = true;          ///< A number may be below 0.
  std::string_view rule = {};    ///< Instead of the rule of the whole table.
};

/// Appends an error for each field of `json` that does not have its shape. Nothing is checked below a field of the
/// wrong type.
void check_shapes(const Json& json, std::span<const FieldShape> shapes, std::string_view rule, FieldErrors& errors);

}  // namespace tpuslice::rules
