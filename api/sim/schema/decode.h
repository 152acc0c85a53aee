// What the API server says of a body it cannot read: the words of Go's JSON decoder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/base/result.h"
#include "api/sim/resources.h"
#include "api/sim/schema/structural.h"

namespace tpuslice::sim {

/// Of text that is no JSON: "unexpected end of JSON input".
[[nodiscard]] std::string json_syntax_error(const std::string& text);

/// "the object provided is unrecognized (must be of type Pod): ...", of a body that is no object.
[[nodiscard]] Error unrecognized(const Resource& resource, const std::string& body);

/// `Pod in version "v1" cannot be handled as a Pod: <why>`.
[[nodiscard]] Error undecodable(const Resource& resource, const std::string& why);

/// Of the first of `problems` that a typed decoder would have stumbled over; nothing where it would not.
[[nodiscard]] std::optional<Error> decoding_problem(const Resource& resource,
                                                    const std::vector<FieldProblem>& problems);

/// Paths of members that are there twice: "data", "spec.containers[0].name". Empty for what is no JSON.
[[nodiscard]] std::vector<std::string> duplicate_fields(const std::string& text);

/// Removes what no metadata has, and returns its paths.
std::vector<std::string> prune_metadata(Json& object);

}  // namespace tpuslice::sim
