// NormalForm: replies with placeholders for values that differ between runs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::conformance {

/// For all replies of one exchange. Placeholders:
///
///   <uid 1>        the first uid; equal uids have equal numbers
///   <rv 2>         resourceVersion of an object: the second lowest of the exchange, which keeps order and equality
///   <rv>           resourceVersion of a list or bookmark, which other writes change
///   <time> <ip> <random> <continue> <age> <number> <ns> <key>
///   <patched>      an object in a message, printed by Go
///
/// `prefixes`: every metadata.generateName in the requests.
[[nodiscard]] Json normal_form(const Json& replies, const std::string& space, const std::set<std::string>& prefixes);

}  // namespace tpuslice::conformance
