// A Job as an API server sends it, for the tests that decode and mutate it.
#pragma once

#include <string_view>

namespace tpuslice {

extern const std::string_view kSampleJob;

}  // namespace tpuslice
