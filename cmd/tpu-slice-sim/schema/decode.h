// Reading the body of a request as an object of a resource.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/base/result.h"
#include "cmd/tpu-slice-sim/resources/resources.h"
#include "cmd/tpu-slice-sim/schema/structural.h"

namespace tpuslice::sim {

/// BadRequest for a body that is not a JSON object.
[[nodiscard]] Error unrecognized(const Resource& resource, const std::string& body);

/// `Pod in version "v1" cannot be handled as a Pod: <why>`.
[[nodiscard]] Error undecodable(const Resource& resource, const std::string& why);

/// BadRequest for the first field with a value of the wrong type, which the real server finds while decoding.
[[nodiscard]] std::optional<Error> decoding_problem(const Resource& resource,
                                                    const std::vector<FieldProblem>& problems);

/// Paths of duplicate members: "data", "spec.containers[0].name". Empty if the text is not JSON.
[[nodiscard]] std::vector<std::string> duplicate_fields(const std::string& text);

/// Removes unknown fields of metadata and returns their paths.
std::vector<std::string> prune_metadata(Json& object);

}  // namespace tpuslice::sim
