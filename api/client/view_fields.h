// The fields of built-in types that their views read. Of these types an API server is asked for protobuf.
#pragma once

#include "api/client/protobuf.h"
#include "api/types/resource_type.h"

namespace tpuslice::client {

/// The fields that the view of the type reads; null for a type that is read in JSON.
[[nodiscard]] const protobuf::Message* view_fields(const ResourceType& type);

}  // namespace tpuslice::client
