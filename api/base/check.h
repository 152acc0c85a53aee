// TPUSLICE_CHECK: for what only a bug can break. Prints where and why, then aborts; in every build type.
#pragma once

#include <string_view>

namespace tpuslice {

[[noreturn]] void check_failed(const char* condition, const char* file, int line, std::string_view message);

}  // namespace tpuslice

#define TPUSLICE_CHECK(condition) TPUSLICE_CHECK_MSG(condition, std::string_view())
#define TPUSLICE_CHECK_MSG(condition, message) \
  ((condition) ? static_cast<void>(0) : ::tpuslice::check_failed(#condition, __FILE__, __LINE__, (message)))
