#include "tpu/catalog.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuslice::tpu {
namespace {

constexpr std::int64_t kLongestEdge = 256;  // In chips; xpk's generator stops at 64 cubes in a row.
constexpr std::int64_t kCubeChips = kCubeEdge * kCubeEdge * kCubeEdge;

std::vector<std::string_view> small_3d_shapes() { return {"2x2x1", "2x2x2", "2x2x4", "2x4x4"}; }
std::vector<std::string_view> small_7_shapes() { return {"1x1x1", "2x2x1", "2x2x2", "2x2x4", "2x4x4"}; }
std::vector<std::string_view> lite_shapes() { return {"1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16"}; }

std::vector<Accelerator> make_accelerators() {
  using enum Generation;
  return {
      {"tpu-v3-device", kV3, 2, 2, "v3", {{"ct3-hightpu-4t", 4}}, {"2x2"}, 0},
      {"tpu-v3-slice",
       kV3,
       2,
       2,
       "v3",
       {{"ct3p-hightpu-4t", 4}},
       {"4x4", "4x8", "8x8", "8x16", "16x16", "16x32", "32x32"},
       0},
      {"tpu-v4-lite-device", kV4, 2, 1, "", {{"ct4l-hightpu-4t", 4}}, {"2x2"}, 0},
      {"tpu-v4-podslice", kV4, 3, 2, "v4", {{"ct4p-hightpu-4t", 4}}, small_3d_shapes(), 64},
      {"tpu-v5-lite-device",
       kV5e,
       2,
       1,
       "",
       {{"ct5l-hightpu-1t", 1}, {"ct5l-hightpu-4t", 4}, {"ct5l-hightpu-8t", 8}},
       {"1x1", "2x2", "2x4"},
       0},
      {"tpu-v5-lite-podslice",
       kV5e,
       2,
       1,
       "v5litepod",
       {{"ct5lp-hightpu-1t", 1}, {"ct5lp-hightpu-4t", 4}, {"ct5lp-hightpu-8t", 8}},
       lite_shapes(),
       0},
      {"tpu-v5p-slice", kV5p, 3, 2, "v5p", {{"ct5p-hightpu-4t", 4}}, small_3d_shapes(), 140},
      {"tpu-v6e-slice",
       kV6e,
       2,
       1,
       "v6e",
       {{"ct6e-standard-1t", 1}, {"ct6e-standard-4t", 4}, {"ct6e-standard-8t", 8}},
       lite_shapes(),
       0},
      {"tpu7", kTpu7, 3, 2, "tpu7", {{"tpu7-standard-1t", 1}, {"tpu7-standard-4t", 4}}, small_7_shapes(), 4},
      {"tpu7x",
       kTpu7x,
       3,
       2,
       "tpu7x",
       {{"tpu7x-standard-1t", 1}, {"tpu7x-standard-4t", 4}, {"tpu7x-ultranet-4t", 4}},
       small_7_shapes(),
       144},
  };
}

Status check_cubes(const Accelerator& accelerator, const Topology& topology) {
  const Bounds& bounds = topology.padded();
  for (const std::int64_t dimension : bounds) {
    if (dimension % kCubeEdge != 0) {
      return Error::invalid_argument(
          "topology {} does not exist for {}: below 4x4x4 it has {}, from there every dimension is a multiple of 4",
          topology.to_string(), accelerator.label, fmt::join(accelerator.shapes, ", "));
    }
  }
  const bool any_order = accelerator.generation == Generation::kV4;
  if (!any_order && !std::is_sorted(bounds.begin(), bounds.end())) {
    Bounds sorted = bounds;
    std::sort(sorted.begin(), sorted.end());
    return Error::invalid_argument("topology {} of {} must list its dimensions in ascending order: {}x{}x{}",
                                   topology.to_string(), accelerator.label, sorted[0], sorted[1], sorted[2]);
  }
  if (*std::max_element(bounds.begin(), bounds.end()) > kLongestEdge) {
    return Error::invalid_argument("topology {} is longer than {} chips in one dimension", topology.to_string(),
                                   kLongestEdge);
  }
  const std::int64_t cubes = topology.chips() / kCubeChips;
  if (cubes > accelerator.cubes) {
    return Error::invalid_argument("topology {} has {} chips; the largest slice of {} has {}", topology.to_string(),
                                   topology.chips(), accelerator.label, accelerator.cubes * kCubeChips);
  }
  return {};
}

}  // namespace

const std::vector<Accelerator>& accelerators() {
  static const std::vector<Accelerator> all = make_accelerators();
  return all;
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
  const auto& shapes = accelerator.shapes;
  if (std::find(shapes.begin(), shapes.end(), topology.to_string()) != shapes.end()) return {};
  if (accelerator.rank == 3) return check_cubes(accelerator, topology);
  return Error::invalid_argument("topology {} does not exist for {}; it has {}", topology.to_string(),
                                 accelerator.label, fmt::join(shapes, ", "));
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
