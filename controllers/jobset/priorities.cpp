#include "controllers/jobset/priorities.h"

namespace tpuslice::jobset {

std::optional<std::int32_t> Priorities::of(const Json& pod_template) const {
  const std::string name = string_at(pod_template, {"spec", "priorityClassName"});
  if (name.empty()) return without_class;
  const auto found = by_class.find(name);
  return found == by_class.end() ? std::nullopt : std::optional(found->second);
}

std::string priority_label(std::int32_t priority) {
  const std::string text = std::to_string(priority);
  return priority < 0 ? "n" + text.substr(1) : text;
}

}  // namespace tpuslice::jobset
