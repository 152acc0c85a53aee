#include "tpu/catalog.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuslice::tpu {
namespace {

constexpr std::int64_t kMaxEdge = 256;  // In chips; xpk's generator stops at 64 cubes in a row.

std::vector<Accelerator> make_accelerators() {
  using enum Generation;
  return {
      {"tpu-v3-device", kV3, 2, 2, "v3", {{"ct3-hightpu-4t", 4}}, 4, 4},
      {"tpu-v3-slice", kV3, 2, 2, "v3", {{"ct3p-hightpu-4t", 4}}, 16, 1024},
      {"tpu-v4-lite-device", kV4, 2, 1, "", {{"ct4l-hightpu-4t", 4}}, 4, 4},
      {"tpu-v4-podslice", kV4, 3, 2, "v4", {{"ct4p-hightpu-4t", 4}}, 4, 64 * kCubeChips},
      {"tpu-v5-lite-device",
       kV5e,
       2,
       1,
       "",
       {{"ct5l-hightpu-1t", 1}, {"ct5l-hightpu-4t", 4}, {"ct5l-hightpu-8t", 8}},
       1,
       8},
      {"tpu-v5-lite-podslice",
       kV5e,
       2,
       1,
       "v5litepod",
       {{"ct5lp-hightpu-1t", 1}, {"ct5lp-hightpu-4t", 4}, {"ct5lp-hightpu-8t", 8}},
       1,
       256},
      {"tpu-v5p-slice", kV5p, 3, 2, "v5p", {{"ct5p-hightpu-4t", 4}}, 4, 140 * kCubeChips},
      {"tpu-v6e-slice",
       kV6e,
       2,
       1,
       "v6e",
       {{"ct6e-standard-1t", 1}, {"ct6e-standard-4t", 4}, {"ct6e-standard-8t", 8}},
       1,
       256},
      {"tpu7", kTpu7, 3, 2, "tpu7", {{"tpu7-standard-1t", 1}, {"tpu7-standard-4t", 4}}, 1, 4 * kCubeChips},
      {"tpu7x",
       kTpu7x,
       3,
       2,
       "tpu7x",
       {{"tpu7x-standard-1t", 1}, {"tpu7x-standard-4t", 4}, {"tpu7x-ultranet-4t", 4}},
       1,
       144 * kCubeChips},
  };
}

bool is_power_of_two(std::int64_t number) { return number > 0 && (number & (number - 1)) == 0; }

/// The rule of check_topology() for 2D. Hosts have 1, 4 or 8 chips.
bool is_flat_shape(const Accelerator& accelerator, const Topology& topology) {
  const Bounds& bounds = topology.padded();
  const std::int64_t chips = topology.chips();
  return is_power_of_two(bounds[0]) && (bounds[1] == bounds[0] || bounds[1] == 2 * bounds[0]) &&
         (chips == 1 || chips % 4 == 0) && chips >= accelerator.min_chips && chips <= accelerator.max_chips;
}

/// The 3D shapes that are smaller than a cube.
std::vector<Bounds> small_shapes(const Accelerator& accelerator) {
  std::vector<Bounds> shapes = {{2, 2, 1}, {2, 2, 2}, {2, 2, 4}, {2, 4, 4}};
  if (accelerator.min_chips == 1) shapes.insert(shapes.begin(), {1, 1, 1});
  return shapes;
}

std::string print(const std::vector<Topology>& topologies) {
  std::vector<std::string> texts;
  texts.reserve(topologies.size());
  for (const Topology& topology : topologies) texts.push_back(topology.to_string());
  return fmt::format("{}", fmt::join(texts, ", "));
}

Status check_cubes(const Accelerator& accelerator, const Topology& topology) {
  const Bounds& bounds = topology.padded();
  for (const std::int64_t dimension : bounds) {
    if (dimension % kCubeEdge != 0) {
      std::vector<Topology> small;
      for (const Bounds& shape : small_shapes(accelerator)) small.push_back(Topology::of(shape));
      return Error::invalid_argument(
          "topology {} does not exist for {}: below 4x4x4 it has {}, from there every dimension is a multiple of 4",
          topology.to_string(), accelerator.label, print(small));
    }
  }
  const bool any_order = accelerator.generation == Generation::kV4;
  if (!any_order && !std::is_sorted(bounds.begin(), bounds.end())) {
    Bounds sorted = bounds;
    std::sort(sorted.begin(), sorted.end());
    return Error::invalid_argument("topology {} of {} must list its dimensions in ascending order: {}",
                                   topology.to_string(), accelerator.label, Topology::of(sorted).to_string());
  }
  if (*std::max_element(bounds.begin(), bounds.end()) > kMaxEdge) {
    return Error::invalid_argument("topology {} is longer than {} chips in one dimension", topology.to_string(),
                                   kMaxEdge);
  }
  if (topology.chips() > accelerator.max_chips) {
    return Error::invalid_argument("topology {} has {} chips; the largest slice of {} has {}", topology.to_string(),
                                   topology.chips(), accelerator.label, accelerator.max_chips);
  }
  return {};
}

}  // namespace

const std::vector<Accelerator>& accelerators() {
  static const std::vector<Accelerator> kAll = make_accelerators();
  return kAll;
}

Result<const Accelerator*> find_accelerator(std::string_view label) {
  std::vector<std::string_view> known;
  for (const Accelerator& accelerator : accelerators()) {
    if (accelerator.label == label) return &accelerator;
    known.push_back(accelerator.label);
  }
  return Error::invalid_argument("accelerator \"{}\" is unknown; known are {}", label.substr(0, 64),
                                 fmt::join(known, ", "));
}

Status check_topology(const Accelerator& accelerator, const Topology& topology) {
  if (topology.rank() != accelerator.rank) {
    return Error::invalid_argument("topology {} has {} dimensions; those of {} have {}", topology.to_string(),
                                   topology.rank(), accelerator.label, accelerator.rank);
  }
  if (accelerator.rank == 3) {
    const std::vector<Bounds> small = small_shapes(accelerator);
    if (std::find(small.begin(), small.end(), topology.padded()) != small.end()) return {};
    return check_cubes(accelerator, topology);
  }
  if (is_flat_shape(accelerator, topology)) return {};
  return Error::invalid_argument("topology {} does not exist for {}; it has {}", topology.to_string(),
                                 accelerator.label, print(legal_topologies(accelerator)));
}

std::vector<Topology> legal_topologies(const Accelerator& accelerator) {
  std::vector<Topology> legal;
  if (accelerator.rank == 2) {
    for (std::int64_t edge = 1; edge * edge <= accelerator.max_chips; edge *= 2) {
      for (const Topology& shape : {Topology::of(edge, edge), Topology::of(edge, 2 * edge)}) {
        if (is_flat_shape(accelerator, shape)) legal.push_back(shape);
      }
    }
    return legal;
  }
  for (const Bounds& shape : small_shapes(accelerator)) legal.push_back(Topology::of(shape));
  for (std::int64_t x = kCubeEdge; x <= kMaxEdge; x += kCubeEdge) {
    for (std::int64_t y = kCubeEdge; y <= kMaxEdge && x * y * kCubeEdge <= accelerator.max_chips; y += kCubeEdge) {
      for (std::int64_t z = kCubeEdge; z <= kMaxEdge && x * y * z <= accelerator.max_chips; z += kCubeEdge) {
        const Topology topology = Topology::of({x, y, z});
        if (check_topology(accelerator, topology).ok()) legal.push_back(topology);
      }
    }
  }
  std::stable_sort(legal.begin(), legal.end(),
                   [](const Topology& a, const Topology& b) { return a.chips() < b.chips(); });
  return legal;
}

std::vector<std::int64_t> chips_per_host_choices(const Accelerator& accelerator, const Topology& topology) {
  const std::int64_t chips = topology.chips();
  const auto has_machine = [&](std::int64_t wanted) {
    return std::any_of(accelerator.machines.begin(), accelerator.machines.end(),
                       [&](const Machine& machine) { return machine.chips == wanted; });
  };
  std::vector<std::int64_t> choices;
  if (chips != 4 && has_machine(chips)) choices.push_back(chips);  // One host: 1x1, 2x4 on 8 chips, 1x1x1.
  const bool devices_only = accelerator.label.ends_with("-device");
  if (chips % 4 == 0 && (chips == 4 || !devices_only)) choices.push_back(4);
  return choices;
}

std::int64_t default_chips_per_host(const Accelerator& accelerator, const Topology& topology) {
  const auto choices = chips_per_host_choices(accelerator, topology);
  return choices.empty() ? 4 : choices.front();
}

Result<int> host_count(const Topology& topology, std::int64_t chips_per_host) {
  const std::int64_t chips = topology.chips();
  if (chips_per_host < 1 || chips % chips_per_host != 0) {
    return Error::invalid_argument("topology {} has {} chips, which {} chips per host do not divide",
                                   topology.to_string(), chips, chips_per_host);
  }
  const std::int64_t hosts = chips / chips_per_host;
  if (hosts > std::numeric_limits<int>::max()) {
    return Error::invalid_argument("topology {} has {} hosts, which is more than any slice", topology.to_string(),
                                   hosts);
  }
  return static_cast<int>(hosts);
}

}  // namespace tpuslice::tpu
