#include "api/base/random_token.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "api/base/base64.h"

namespace tpuslice {

Result<std::string> random_token() {
  std::string bytes(32, '\0');
  if (getentropy(bytes.data(), bytes.size()) != 0) {
    return Error::unavailable("a random token cannot be made: {}", std::generic_category().message(errno));
  }
  return encode_base64(bytes);
}

}  // namespace tpuslice
