// Protobuf bodies, which kubectl create namespace, configmap, secret and serviceaccount, and kubectl drain send.
//
// Only the kinds of these commands are decoded; responses are JSON, which every client accepts.
#pragma once

#include <string_view>

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// The object in a body of type application/vnd.kubernetes.protobuf.
///
/// Errors: Unsupported (415) for other kinds; InvalidArgument if malformed.
[[nodiscard]] Result<Json> decode_protobuf(std::string_view body);

}  // namespace tpuslice::sim
