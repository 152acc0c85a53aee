// Plays exchanges and compares the replies.
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/exchange.h"
#include "tests/conformance/worlds.h"

namespace tpuslice::conformance {

/// Applies the CRDs of deploy/crds and tests/conformance/crds.
[[nodiscard]] Status set_up(World& world);

/// The replies in normal form, one per recorded step. Errors: the first step that failed.
[[nodiscard]] Result<Json> play(World& world, const Exchange& exchange);

struct Verdict {
  enum class Kind : std::uint8_t { kAgreed, kKnown, kDiffered };
  Kind kind = Kind::kAgreed;
  std::vector<std::string> differences;  ///< "/2/code: recorded 409, simulated 200"; unexpected ones only.
};
[[nodiscard]] Verdict compare(const Exchange& exchange, const Json& recorded, const Json& simulated);

/// recordings/<area>.json under `folder`, by name of the exchange; empty if it does not exist.
[[nodiscard]] Json load_recordings(const std::string& folder, const std::string& area);

}  // namespace tpuslice::conformance
