// ManagedFields: the owners of the fields of an object, in metadata.managedFields.
#pragma once

#include <string>
#include <vector>

#include "api/base/clock.h"
#include "cmd/tpu-slice-sim/patch/field_set.h"

namespace tpuslice::sim {

struct ManagedEntry {
  std::string manager;
  std::string operation;  ///< "Apply" or "Update"
  std::string api_version;
  std::string subresource;
  std::string time;
  FieldSet fields;

  [[nodiscard]] bool is(std::string_view by, std::string_view how, std::string_view on) const {
    return manager == by && operation == how && subresource == on;
  }
};

[[nodiscard]] std::vector<ManagedEntry> read_managed_fields(const Json& object);
/// Entries without fields are left out; no entries, no managedFields.
void write_managed_fields(Json& object, std::vector<ManagedEntry> entries);

/// Without fields that the server owns, and fields that a write through `subresource` cannot change.
[[nodiscard]] FieldSet owned_part(const Resource& resource, FieldSet fields, std::string_view subresource);

}  // namespace tpuslice::sim
