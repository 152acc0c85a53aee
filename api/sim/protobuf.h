// Protobuf bodies: some commands of kubectl (create namespace, create secret, drain, auth can-i) send nothing else.
//
// Only small kinds are read; answers are always JSON, which every client accepts.
#pragma once

#include <string_view>

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// The object in a body of type application/vnd.kubernetes.protobuf.
///
/// Errors: Unsupported (415) for a kind whose fields are not known here; InvalidArgument for what is malformed.
[[nodiscard]] Result<Json> decode_protobuf(std::string_view body);

}  // namespace tpuslice::sim
