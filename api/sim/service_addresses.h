// The addresses a Service gets: cluster IPs of 10.96.0.0/16 and node ports of 30000-32767.
#pragma once

#include "api/sim/resources.h"
#include "api/sim/storage.h"

namespace tpuslice::sim {

/// Gives the service what it has not: clusterIP(s), node ports where its type wants them. "None" is kept.
///
/// Errors: Invalid for an address or port out of range or taken by another service.
[[nodiscard]] Status assign_addresses(const Resource& resource, Json& service, const Storage& storage);

/// Copies the addresses that an update left out from the stored service.
void keep_addresses(Json& service, const Json& old);

}  // namespace tpuslice::sim
