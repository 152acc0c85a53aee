// Gzip: large replies for clients that accept them compressed.
#pragma once

#include <string>
#include <string_view>

#include "api/http/transport.h"

namespace tpuslice::http {

/// Whether the header Accept-Encoding has gzip, with another weight than 0.
[[nodiscard]] bool accepts_gzip(const Headers& headers);

/// One gzip member, compressed fast rather than well.
[[nodiscard]] std::string gzip(std::string_view bytes);

}  // namespace tpuslice::http
