// Tokens of service accounts, signed by the test with the key of the control plane: the API server issues none that
// expire within ten minutes.
#pragma once

#include <string>

#include "api/base/clock.h"
#include "api/base/result.h"
#include "api/types/object.h"

namespace tpuslice::testing {

/// A token of `account`, whose uid is `uid`, that expires at `expiry`. `directory` is that of the control plane.
/// Errors: Internal if openssl fails.
[[nodiscard]] Result<std::string> sign_token(const std::string& directory, const ObjectKey& account,
                                             const std::string& uid, Timestamp expiry);

}  // namespace tpuslice::testing
