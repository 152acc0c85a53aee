// Failure: how a request failed, and whether it may be sent again. Private to api/http.
#pragma once

#include <string_view>

#include "api/base/result.h"

namespace tpuslice::http {

struct Failure {
  Error error;
  bool unsent = false;  ///< The request was not written whole: the server cannot have acted.
  bool lost = false;    ///< The connection broke before anything of an answer came.
};

/// The server may close a kept connection just before it is used. A request is sent again only if the server cannot
/// have acted on it, or if it is a GET.
[[nodiscard]] inline bool may_repeat(const Failure& failure, std::string_view method) {
  return failure.lost && (failure.unsent || method == "GET");
}

}  // namespace tpuslice::http
