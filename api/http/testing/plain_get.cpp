// Boost 1.74, below cpprestsdk, uses std::exchange without its header.
#include <utility>

// cpprestsdk's U() macro breaks fmt.
#define _TURN_OFF_PLATFORM_STRING  // NOLINT: its name is theirs
#include <cpprest/http_client.h>
#include <pplx/threadpool.h>

#include "api/http/testing/plain_get.h"

namespace tpuslice::http {
namespace {

/// It would start 40 threads.
void limit_threads() {
  static const bool kLimited = [] {
    crossplat::threadpool::initialize_with_threads(2);
    return true;
  }();
  static_cast<void>(kLimited);
}

}  // namespace

Result<PlainResponse> plain_get(int port, const std::string& path, Duration limit) {
  limit_threads();
  try {
    web::http::client::http_client_config config;
    config.set_timeout(std::chrono::duration_cast<std::chrono::microseconds>(limit));
    web::http::client::http_client client(fmt::format("http://127.0.0.1:{}", port), config);
    web::http::http_request request(web::http::methods::GET);
    request.set_request_uri(path);
    request.headers().add("Connection", "close");
    const web::http::http_response response = client.request(request).get();
    return PlainResponse{response.status_code(), response.extract_string(true).get()};
  } catch (const std::exception& problem) {
    return Error::unavailable("GET {} of port {}: {}", path, port, problem.what());
  }
}

}  // namespace tpuslice::http
