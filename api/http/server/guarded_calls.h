// Calls of handlers and of their streams, which may throw. Private to this folder.
#pragma once

#include <exception>
#include <stop_token>
#include <string>

#include "api/http/server/messages.h"
#include "api/http/server/server.h"

namespace tpuslice::http {

[[nodiscard]] inline Reply call_handler(const Handler& handler, const Request& request, const Peer& peer) {
  try {
    return handler(request, peer);
  } catch (...) {  // Whatever it is, the client learns nothing of it.
    Reply failed;
    failed.response = plain_reply(500, "internal server error");
    return failed;
  }
}

[[nodiscard]] inline Result<std::string> read_stream(Stream& source, Duration wait, const std::stop_token& stop) {
  try {
    return source.read(wait, stop);
  } catch (const std::exception& problem) {
    return Error::defect("stream: {}", problem.what());
  }
}

}  // namespace tpuslice::http
