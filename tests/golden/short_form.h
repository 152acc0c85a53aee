// The form of golden plans. A body that differs in a few values from an earlier one of the file is printed as the
// difference, with JSON pointers:
//
//   - action: create
//     body:
//       like: Pod ml/train-worker-0-0       # the body before the changes
//       with:                               # values that are set
//         /metadata/name: train-worker-0-1
//         /spec/containers/0/env/0/value: "1"
//       without:                            # members that are removed
//       - /spec/subdomain
//
// Bodies are those of creates, and documents that are an object themselves. A file that has all bodies whole is valid.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::golden {

/// Replaces bodies by the smallest difference to an earlier body of the same kind; the first one if several are as
/// small. A body stays whole if the difference has more than a third of its lines.
[[nodiscard]] std::vector<Json> shorten(std::vector<Json> documents);

/// The inverse of shorten(). A difference to a body that is not there stays as it is. Throws Json::exception if a
/// pointer does not fit the body.
[[nodiscard]] std::vector<Json> expand(std::vector<Json> documents);

/// The documents as the text of a file.
[[nodiscard]] std::string print(const std::vector<Json>& documents);

/// The documents of print(). Errors: InvalidArgument.
[[nodiscard]] Result<std::vector<Json>> parse(std::string_view text);

}  // namespace tpuslice::golden
