// Plays exchanges and compares what comes back.
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/exchange.h"
#include "tests/conformance/worlds.h"

namespace tpuslice::conformance {

/// The definitions of deploy/crds and tests/conformance/crds, before the first exchange.
[[nodiscard]] Status set_up(World& world);

/// The replies in normal form, an element per recorded step. Errors: what kept the exchange from being played.
[[nodiscard]] Result<Json> play(World& world, const Exchange& exchange);

struct Verdict {
  enum class Kind : std::uint8_t { kAgreed, kKnown, kDiffered };
  Kind kind = Kind::kAgreed;
  std::vector<std::string> differences;  ///< "/2/code: recorded 409, simulated 200"; unexpected ones only.
};
[[nodiscard]] Verdict compare(const Exchange& exchange, const Json& recorded, const Json& simulated);

/// recordings/<area>.json under `folder`, by name of the exchange; empty where there is none yet.
[[nodiscard]] Json load_recordings(const std::string& folder, const std::string& area);

}  // namespace tpuslice::conformance
