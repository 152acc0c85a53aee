// The catalog: which TPU accelerators exist, on which machines, in which shapes.
//
// Sources: the GKE cluster-autoscaler's machine tables, the GKE TPU device plugin (ai-on-gke/tpu-device-plugin), xpk's
// topology generator and the "TPUs in GKE" pages of cloud.google.com. Shapes are accepted by rule, not by list:
// providers add shapes faster than programs are released.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tpu/topology.h"

namespace tpuslice::tpu {

/// Edge in chips: 3D slices consist of cubes of 4x4x4 chips.
inline constexpr std::int64_t kCubeEdge = 4;
inline constexpr std::int64_t kCubeChips = kCubeEdge * kCubeEdge * kCubeEdge;

/// Hosts of a slice, and TPU processes of a slice: the largest slice, of tpu7x, has 9,216 chips. No shape of the
/// catalog exceeds it; it limits the sizes that users write.
inline constexpr int kMaxSliceHosts = 9216;

enum class Generation : std::uint8_t { kV3, kV4, kV5e, kV5p, kV6e, kTpu7, kTpu7x };

struct Machine {
  std::string_view type;   ///< "ct6e-standard-4t"
  std::int64_t chips = 0;  ///< google.com/tpu of one node.
};

/// One value of the node label cloud.google.com/gke-tpu-accelerator.
struct Accelerator {
  std::string_view label;  ///< "tpu-v6e-slice"
  Generation generation = Generation::kV4;
  std::size_t rank = 2;             ///< Dimensions of its topologies.
  std::int64_t cores_per_chip = 1;  ///< The number that TPU_ACCELERATOR_TYPE counts.
  std::string_view type_prefix;     ///< Prefix of TPU_ACCELERATOR_TYPE; empty if the device plugin sets none.
  std::vector<Machine> machines;
  std::int64_t min_chips = 1;  ///< Chips of its smallest slice.
  std::int64_t max_chips = 1;  ///< Chips of its largest.

  /// Whether several processes of a host may each use some of its chips: from tpu7x on.
  /// Source: device plugin, ValidateTpuRequest; in earlier generations a container must use all chips of its node.
  [[nodiscard]] bool splits_hosts() const { return generation == Generation::kTpu7x; }
};

[[nodiscard]] const std::vector<Accelerator>& accelerators();

/// Errors: InvalidArgument naming the known labels; "tpu-v6e-device" and "tpu-v4-lite-podslice" do not exist.
[[nodiscard]] Result<const Accelerator*> find_accelerator(std::string_view label);

/// Whether `accelerator` has slices of this shape.
///
/// 2D: AxB with A a power of two and B equal to A or twice it, from the smallest slice to the largest, in whole hosts.
/// 3D: 2x2x1, 2x2x2, 2x2x4, 2x4x4 (tpu7 and tpu7x also 1x1x1) below one cube; from there every dimension a multiple of
/// 4 up to 256, ascending (v4 in any order), up to the generation's number of cubes.
/// Errors: InvalidArgument naming the violated rule and, for 2D, the shapes that exist.
/// Source: GKE topology tables; xpk generate_tpu_topologies; GKE dynamic slicing for tpu7x.
[[nodiscard]] Status check_topology(const Accelerator& accelerator, const Topology& topology);

/// All shapes that check_topology() accepts, sorted by number of chips.
[[nodiscard]] std::vector<Topology> legal_topologies(const Accelerator& accelerator);

/// Possible numbers of chips of one host of such a slice: usually {4}; {8, 4} for 2x4 of v5e and v6e, which is one host
/// or two, depending on the machine type. Source: machine tables; the device plugin's tests have 2x4 both ways.
[[nodiscard]] std::vector<std::int64_t> chips_per_host_choices(const Accelerator& accelerator,
                                                               const Topology& topology);

/// The first of the choices.
[[nodiscard]] std::int64_t default_chips_per_host(const Accelerator& accelerator, const Topology& topology);

/// Number of hosts in a slice of `topology` with `chips_per_host` chips each.
///
/// Errors: InvalidArgument if the chips do not divide evenly into hosts.
/// Source: "hosts = chips / chips per VM", GKE TPU topology tables.
[[nodiscard]] Result<int> host_count(const Topology& topology, std::int64_t chips_per_host);

}  // namespace tpuslice::tpu
