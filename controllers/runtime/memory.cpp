#include "controllers/runtime/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace tpuslice::runtime {
namespace {

/// Growth of resident memory, in bytes, after which free memory is returned.
constexpr std::size_t kMuchGrowth = 8U << 20U;

}  // namespace

// Other allocators keep at most one heap per processor and return memory on their own.
#if defined(__GLIBC__)

void configure_allocator() {
  constexpr int kHeaps = 2;
  mallopt(M_ARENA_MAX, kHeaps);  // NOLINT(concurrency-mt-unsafe): before threads start, as the next one
  mallopt(M_MXFAST, 0);          // NOLINT(concurrency-mt-unsafe)
}

void return_free_memory() { malloc_trim(0); }

#else

void configure_allocator() {}
void return_free_memory() {}

#endif

std::size_t resident_memory() {
  std::ifstream in("/proc/self/statm");
  std::size_t total_pages = 0;
  std::size_t resident_pages = 0;
  in >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void FreeMemoryReturner::step() {
  const std::size_t resident = resident_memory();
  if (resident > resident_ + kMuchGrowth) {
    return_free_memory();
    resident_ = resident_memory();
  } else {
    resident_ = std::min(resident_, resident);
  }
}

}  // namespace tpuslice::runtime
