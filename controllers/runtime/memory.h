// Memory that the allocator keeps after it was freed.
#pragma once

#include <cstddef>

namespace tpuslice::runtime {

/// Limits the number of heaps, since each keeps the memory that its threads once used. Turns off glibc's fast bins:
/// each allocation of a kilobyte or more would consolidate them. Call it before threads start.
void configure_allocator();

/// Returns free memory to the system, also from the middle of heaps. Takes longer the larger the heaps are.
void return_free_memory();

/// Resident memory of this process, bytes; 0 if it cannot be read.
[[nodiscard]] std::size_t resident_memory();

/// Calls return_free_memory() when resident memory has grown, so that it shrinks again after one large object. Does not
/// use the allocator's statistics, which are computed from all free blocks. Not thread-safe.
class FreeMemoryReturner {
 public:
  void step();

 private:
  std::size_t resident_ = 0;  ///< After the last call, or the least since.
};

}  // namespace tpuslice::runtime
