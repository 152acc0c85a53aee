// Addresses of Services: cluster IPs in 10.96.0.0/16 and node ports 30000-32767.
#pragma once

#include "cmd/tpu-slice-sim/resources/resources.h"
#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

/// Allocates missing cluster IPs, and node ports if the type requires them. "None" is kept.
///
/// Errors: Invalid for an address or port that is out of range or allocated to another service.
[[nodiscard]] Status assign_addresses(const Resource& resource, Json& service, const Storage& storage);

/// Undoes assign_addresses(): the addresses are those of `asked`, the service as the client sent it.
void restore_addresses(Json& service, const Json& asked);

/// Copies addresses that an update omits from the stored service.
void keep_addresses(Json& service, const Json& old);

}  // namespace tpuslice::sim
