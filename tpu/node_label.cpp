#include "tpu/node_label.h"

namespace tpuslice::tpu {
namespace {

/// The value that the term demands; empty if it allows others.
std::string demanded_by(const Json& term, std::string_view label) {
  for (const Json& each : array_at(term, {"matchExpressions"})) {
    const Json& values = array_at(each, {"values"});
    if (string_at(each, {"key"}) != label || string_at(each, {"operator"}) != "In" || values.size() != 1) continue;
    return values[0].is_string() ? values[0].get<std::string>() : std::string();
  }
  return {};
}

}  // namespace

std::string node_label(const Json& pod, std::string_view label) {
  if (std::string selected = string_at(pod, {"spec", "nodeSelector", label}); !selected.empty()) return selected;
  const Json& terms = array_at(
      pod, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  std::string value;
  for (const Json& term : terms) {
    const std::string demanded = demanded_by(term, label);
    if (demanded.empty() || (!value.empty() && value != demanded)) return {};
    value = demanded;
  }
  return value;
}

}  // namespace tpuslice::tpu
