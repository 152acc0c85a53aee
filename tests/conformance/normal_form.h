// NormalForm: replies without what differs from one run to the next, and with what must not.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::conformance {

/// Of the replies of one exchange, all of them. Placeholders:
///
///   <uid 1>        the first uid seen; equal ones have equal numbers
///   <rv 2>         resourceVersion of an object: the second lowest of the exchange, so order and equality stay visible
///   <rv>           of a list or bookmark, which other writes move too
///   <time> <ip> <random> <continue> <age> <number> <ns> <key>
///   <patched>      an object in a message, printed by Go
///
/// `prefixes`: every metadata.generateName that was sent.
[[nodiscard]] Json normal_form(const Json& replies, const std::string& space, const std::set<std::string>& prefixes);

}  // namespace tpuslice::conformance
