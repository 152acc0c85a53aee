// Topology: the shape of a TPU slice in chips, as node labels print it: "4x4", "2x2x4".
//
//   ASSIGN_OR_RETURN(const tpu::Topology topology, tpu::Topology::parse("2x2x4"));
//   topology.chips();  // 16
//
// Any shape is a Topology; check_topology() in tpu/catalog.h says whether an accelerator has it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/base/result.h"

namespace tpuslice::tpu {

/// Chips along x, y and z.
using Bounds = std::array<std::int64_t, 3>;

/// "2,2,1", as the TPU_*_BOUNDS variables print it.
[[nodiscard]] std::string to_string(const Bounds& bounds);

/// Two or three dimensions, each 1 to 9999, so no product of them overflows.
class Topology {
 public:
  /// Errors: InvalidArgument for anything but two or three decimal numbers without leading zeros, joined by 'x'. Labels
  /// are compared as text, so another spelling would not match any node.
  static Result<Topology> parse(std::string_view text);

  /// Each number must be 1 to 9999.
  static Topology of(const Bounds& bounds) { return {3, bounds}; }
  static Topology of(std::int64_t x, std::int64_t y) { return {2, {x, y, 1}}; }

  [[nodiscard]] std::size_t rank() const { return rank_; }
  /// The bounds, with 1 for a missing third dimension.
  /// Source: GKE TPU device plugin, pkg/tpu/util: 2D shapes are padded before bounds are computed.
  [[nodiscard]] const Bounds& padded() const { return padded_; }
  [[nodiscard]] std::int64_t chips() const { return padded_[0] * padded_[1] * padded_[2]; }
  [[nodiscard]] std::string to_string() const;

  /// Equal rank, and no dimension longer than that of `other`.
  [[nodiscard]] bool fits_in(const Topology& other) const;

  friend bool operator==(const Topology&, const Topology&) = default;

 private:
  Topology(std::size_t rank, const Bounds& padded) : rank_(rank), padded_(padded) {}

  std::size_t rank_;
  Bounds padded_;
};

}  // namespace tpuslice::tpu
