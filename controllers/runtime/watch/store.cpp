#include "controllers/runtime/watch/store.h"

#include "api/base/strings.h"

namespace tpuslice::runtime {

std::uint64_t revision_of(std::string_view resource_version) {
  return parse_integer<std::uint64_t>(resource_version).value_or(0);
}

}  // namespace tpuslice::runtime
