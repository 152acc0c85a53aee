// Random texts that cannot be guessed, for credentials. For other random choices see random.h.
#pragma once

#include <string>

#include "api/base/result.h"

namespace tpuslice {

/// 32 bytes of the kernel's generator, as base64.
///
/// Errors: Unavailable if the kernel has no generator.
[[nodiscard]] Result<std::string> random_token();

}  // namespace tpuslice
