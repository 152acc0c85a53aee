// A Job as an API server returns it.
#pragma once

#include <string_view>

namespace tpuslice {

extern const std::string_view kSampleJob;

}  // namespace tpuslice
