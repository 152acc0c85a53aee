// A fleet as JSON of the schema tpuslice.dev/fleet.v1, which `kubectl tpu ... -o json` prints, the operator serves and
// the page draws.
#pragma once

#include <string_view>

#include "fleet/model.h"

namespace tpuslice::fleet {

inline constexpr std::string_view kFleetSchema = "tpuslice.dev/fleet.v1";

struct FleetJsonOptions {
  bool nodes = true;  ///< Pools have the names of their nodes.
};

/// Members that are empty are left out.
[[nodiscard]] Json write_fleet(const Fleet& fleet, const FleetJsonOptions& options = {});
[[nodiscard]] Json write_pool(const Pool& pool, const FleetJsonOptions& options = {});
[[nodiscard]] Json write_slice(const FleetSlice& slice);
[[nodiscard]] Json write_attention(const Attention& attention);

/// Unknown members are ignored, those of another type count as absent. Errors: InvalidArgument for another schema, or
/// without a valid time.
[[nodiscard]] Result<Fleet> read_fleet(const Json& json);

}  // namespace tpuslice::fleet
