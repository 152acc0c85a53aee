// Method: how the pods of a slice are kept together.
#pragma once

#include <array>
#include <string_view>

namespace tpuslice::bench {

enum class Method {
  kAffinity,  ///< Only pod affinity: kube-scheduler finds the nodes.
  kGates,     ///< The slice controller places the slice and removes the gates; pods also have affinities.
  kPins,      ///< The same without affinities.
};

inline constexpr std::array kMethods = {Method::kAffinity, Method::kGates, Method::kPins};

/// "affinity", "gates", "pins": as in --only.
[[nodiscard]] std::string_view name_of(Method method);
/// For the table.
[[nodiscard]] std::string_view description_of(Method method);

[[nodiscard]] constexpr bool has_affinity(Method method) { return method != Method::kPins; }
/// The slice controller places the slice.
[[nodiscard]] constexpr bool is_gated(Method method) { return method != Method::kAffinity; }

}  // namespace tpuslice::bench
