// Priorities: which priority the API server gives to the pods of a JobSet. Upstream's webhook labels pods with it, for
// the affinities of pods of other JobSets; pods of Jobs that our controller creates do not pass a webhook.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/types/object.h"

namespace tpuslice::jobset {

inline constexpr ResourceType kPriorityClasses{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false};

/// A value. Empty if the PriorityClasses cannot be read.
struct Priorities {
  std::map<std::string, std::int32_t, std::less<>> by_class;
  /// The priority of pods without a class: that of the least class with globalDefault, or else 0.
  std::optional<std::int32_t> without_class;

  /// Absent: not known, as that of a class that does not exist, whose pods are refused.
  [[nodiscard]] std::optional<std::int32_t> of(const Json& pod_template) const;

  friend bool operator==(const Priorities&, const Priorities&) = default;
};

/// The priority as a label value: "1000", or "n1" for -1.
[[nodiscard]] std::string priority_label(std::int32_t priority);

}  // namespace tpuslice::jobset
