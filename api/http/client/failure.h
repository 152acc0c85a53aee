// Failure: how a request failed, and whether it may be sent again. Private to this folder.
#pragma once

#include <string_view>

#include "api/base/result.h"

namespace tpuslice::http {

struct Failure {
  Error error;
  bool unsent = false;  ///< The request was not written whole: the server cannot have acted.
  bool lost = false;    ///< The connection broke before anything of an answer came.
};

/// A kept connection may have been closed by the server just before we used it. Sent again is only what the server
/// cannot have acted upon, or would answer the same.
[[nodiscard]] inline bool may_repeat(const Failure& failure, std::string_view method) {
  return failure.lost && (failure.unsent || method == "GET");
}

}  // namespace tpuslice::http
