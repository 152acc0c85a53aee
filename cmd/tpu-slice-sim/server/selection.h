// Selection: the namespace, label selector and field selector of a request.
#pragma once

#include "cmd/tpu-slice-sim/resources/resources.h"
#include "cmd/tpu-slice-sim/server/list_options.h"

namespace tpuslice::sim {

class Selection {
 public:
  /// Errors: BadRequest for a field that the resource cannot be selected by.
  static Result<Selection> of(const Resource& resource, const ListOptions& options, std::string namespace_name);

  /// `object` in its served form.
  [[nodiscard]] bool matches(const ObjectKey& key, const Json& object) const;
  [[nodiscard]] bool everything() const;
  [[nodiscard]] const std::string& namespace_name() const { return namespace_; }

 private:
  std::string namespace_;  ///< Empty: all.
  LabelSelector labels_ = LabelSelector::everything();
  FieldSelector fields_ = FieldSelector::everything();
};

/// The value at a dotted path as a field selector compares it; "" if absent.
[[nodiscard]] std::string field_value(const Json& object, std::string_view path);

}  // namespace tpuslice::sim
