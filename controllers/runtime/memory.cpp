#include "controllers/runtime/memory.h"

#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace tpuslice::runtime {

// Other allocators keep at most one heap per processor and return memory on their own.
#if defined(__GLIBC__)

namespace {
constexpr int kHeaps = 2;
}  // namespace

void share_heaps() { mallopt(M_ARENA_MAX, kHeaps); }

void return_free_memory() { malloc_trim(0); }

#else

void share_heaps() {}
void return_free_memory() {}

#endif

}  // namespace tpuslice::runtime
