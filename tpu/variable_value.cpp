#include "tpu/variable_value.h"

#include <fmt/format.h>

namespace tpuslice::tpu {

std::string variable_value(const Json& pod, const Json& variable) {
  const std::string field = string_at(variable, {"valueFrom", "fieldRef", "fieldPath"});
  if (field.empty()) return string_at(variable, {"value"});
  for (const char* map : {"annotations", "labels"}) {
    const std::string prefix = fmt::format("metadata.{}['", map);
    if (field.starts_with(prefix) && field.ends_with("']")) {
      return string_at(pod, {"metadata", map, field.substr(prefix.size(), field.size() - prefix.size() - 2)});
    }
  }
  for (const char* member : {"name", "namespace"}) {
    if (field == fmt::format("metadata.{}", member)) return string_at(pod, {"metadata", member});
  }
  return "<" + field + ">";
}

}  // namespace tpuslice::tpu
