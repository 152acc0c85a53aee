// The schema of a custom resource as a table: type, bounds, choices and presence of its fields. For validators that
// must also hold where the CRD was installed by somebody else or an object never met an API server.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "webhook/rules/field_errors.h"

namespace tpuslice::webhook {

enum class FieldType : std::uint8_t { kObject, kList, kString, kBoolean, kInteger, kInt32 };

/// One field. Null counts as absent, except as an element of a list.
struct FieldShape {
  std::string_view path;  ///< "spec.replicatedJobs.*.name": "*" stands for every element of a list.
  FieldType type = FieldType::kObject;
  bool required = false;         ///< Wherever its parent is.
  std::string_view values = {};  ///< "All|Any": the only strings it may be; empty is any.
  std::size_t most = 0;          ///< Elements of a list; 0 is any number.
  bool negative = true;          ///< A number may be below 0.
  std::string_view rule = {};    ///< Instead of the rule of the whole table.
};

/// Appends what in `json` is not of the given shapes. Each mistake is told once: below a field of the wrong type
/// nothing is looked for.
void check_shapes(const Json& json, std::span<const FieldShape> shapes, std::string_view rule,
                  std::vector<FieldError>& errors);

}  // namespace tpuslice::webhook
