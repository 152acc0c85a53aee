#include "controllers/runtime/memory.h"

#include <cstddef>
#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace tpuslice::runtime {

// Other allocators keep at most one heap per processor and return memory on their own.
#if defined(__GLIBC__)

namespace {
constexpr int kHeaps = 2;
constexpr std::size_t kMuchMemory = 8U << 20U;
}  // namespace

void share_heaps() { mallopt(M_ARENA_MAX, kHeaps); }

void return_free_memory() { malloc_trim(0); }

void return_free_memory_if_much() {
  if (mallinfo2().fordblks > kMuchMemory) malloc_trim(0);
}

#else

void share_heaps() {}
void return_free_memory() {}
void return_free_memory_if_much() {}

#endif

}  // namespace tpuslice::runtime
