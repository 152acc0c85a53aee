// received_bytes(): what arrived on a TCP connection. Private to this folder.
#pragma once

#include <cstdint>

namespace tpuslice::http {

/// Bytes that the connection `descriptor` has received since it was opened, as the kernel counts them; 0 if it does not
/// say.
[[nodiscard]] std::uint64_t received_bytes(int descriptor);

}  // namespace tpuslice::http
