// Ports of the headless service of a JobSet.
#pragma once

#include <cstddef>

#include "api/types/views.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

/// The ports that containers declare, each number and protocol once, as a service mesh matches traffic by the ports of
/// services. Only those that a service can have, and the first `limit` of them.
[[nodiscard]] Json service_ports(const JobSetSpec& spec, std::size_t limit = kMaxServicePorts);

}  // namespace tpuslice::jobset
