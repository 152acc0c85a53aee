// Way: what keeps the pods of a slice together.
#pragma once

#include <array>
#include <string_view>

namespace tpuslice::bench {

enum class Way {
  kAffinity,  ///< Affinity between pods, and nothing else: kube-scheduler finds the nodes.
  kGates,     ///< The slice controller finds them, says which, and takes the gate off. The affinities are there too.
  kPins,      ///< Likewise, without the affinities.
};

inline constexpr std::array kWays = {Way::kAffinity, Way::kGates, Way::kPins};

/// "affinity", "gates", "pins": as in --only.
[[nodiscard]] std::string_view name_of(Way way);
/// For people.
[[nodiscard]] std::string_view description_of(Way way);

[[nodiscard]] constexpr bool has_affinity(Way way) { return way != Way::kPins; }
/// The slice controller takes part.
[[nodiscard]] constexpr bool is_gated(Way way) { return way != Way::kAffinity; }

}  // namespace tpuslice::bench
