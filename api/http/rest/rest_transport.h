// A Transport whose calls cpprestsdk sends, for programs that send few requests to a server that they trust
// (docs/adr/0045). Streams, proxies and IPv6 addresses use the connections of api/http/client.
//
// A library of its own (tpuslice::http_rest), so that the operator does not carry cpprestsdk.
#pragma once

#include <cstddef>
#include <memory>

#include "api/http/client/network_transport.h"

namespace tpuslice::http {

/// Limit of one response, in bytes, compressed or not: cpprestsdk reads chunks whole.
inline constexpr std::size_t kMaxRestResponse = 16U << 20U;

/// make_network_transport() with other connections and responses of at most kMaxRestResponse. A GET may be sent once
/// more on a new connection; other requests are sent once, each over a connection of its own.
///
/// Starts a thread, which lives as long as the process.
[[nodiscard]] Result<std::unique_ptr<Transport>> make_rest_transport(TransportOptions options);

}  // namespace tpuslice::http
