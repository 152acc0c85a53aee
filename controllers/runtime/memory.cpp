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
/// One in so many of the bytes that a call could not return counts as in use at once.
constexpr std::size_t kShareInUse = 4;

}  // namespace

// Other allocators keep at most one heap per processor and return memory on their own.
#if defined(__GLIBC__)

void configure_allocator() {
  constexpr int kHeaps = 2;
  constexpr int kLargeBlock = 1 << 20;  // Bytes.
  constexpr int kKeptAtEnd = 4 << 20;   // Bytes of a heap.
  // NOLINTBEGIN(concurrency-mt-unsafe): before threads start
  mallopt(M_ARENA_MAX, kHeaps);
  mallopt(M_MXFAST, 0);
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  mallopt(M_TRIM_THRESHOLD, kKeptAtEnd);
  // NOLINTEND(concurrency-mt-unsafe)
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
  std::size_t resident = resident_memory();
  if (resident > in_use_ + kMuchGrowth) {
    return_free_memory();
    resident = resident_memory();
    if (resident > in_use_) in_use_ += (resident - in_use_) / kShareInUse;
  }
  in_use_ = std::min(in_use_, resident);
}

}  // namespace tpuslice::runtime
