// Method: how the pods of a slice are kept together.
#pragma once

#include <array>
#include <string_view>

namespace tpuslice::bench {

enum class Method {
  kAffinity,  ///< Only pod affinity: kube-scheduler finds the nodes.
  kGates,     ///< The slice controllers place the slice and remove the gates; pods also have affinities.
  kPins,      ///< The same without affinities.
  kPlaced,    ///< Pods are created as the slice controllers leave them: an upper limit of what they could reach.
  kBound,     ///< Pods are created on their nodes: an upper limit of every method.
};

inline constexpr std::array kMethods = {Method::kAffinity, Method::kGates, Method::kPins, Method::kPlaced,
                                        Method::kBound};

/// "affinity", "gates", "pins", "placed", "bound": as in --only.
[[nodiscard]] std::string_view name_of(Method method);
/// For the table.
[[nodiscard]] std::string_view description_of(Method method);

[[nodiscard]] constexpr bool has_affinity(Method method) { return method != Method::kPins; }
/// The placement controller places the slice.
[[nodiscard]] constexpr bool is_gated(Method method) { return method == Method::kGates || method == Method::kPins; }
/// The nodes of its pods are chosen by this program, when it creates them.
[[nodiscard]] constexpr bool is_placed(Method method) { return method == Method::kPlaced || method == Method::kBound; }

}  // namespace tpuslice::bench
