// Memory that the allocator keeps after it was freed.
#pragma once

#include <cstddef>

namespace tpuslice::runtime {

/// Limits the number of heaps, since each keeps the memory that its threads once used. Turns off glibc's fast bins:
/// each allocation of a kilobyte or more would consolidate them. Fixes the size, 1 MiB, from which a block is mapped
/// alone and returned when it is freed: glibc would raise it to the largest block freed; and what a heap keeps at its
/// end, 4 MiB, so that medium blocks are not returned and asked for again all the time. Call it before threads start.
void configure_allocator();

/// Returns free memory to the system, also from the middle of heaps. Takes longer the larger the heaps are.
void return_free_memory();

/// Resident memory of this process, bytes; 0 if it cannot be read.
[[nodiscard]] std::size_t resident_memory();

/// Calls return_free_memory() when resident memory is well above what is in use, so that it shrinks again after one
/// large object. What is in use is estimated from what a call cannot return: a quarter of it counts at once, since the
/// rest may be freed before the next call. Does not use the allocator's statistics, which are computed from all free
/// blocks. Not thread-safe.
class FreeMemoryReturner {
 public:
  void step();

 private:
  std::size_t in_use_ = 0;  ///< Bytes, estimated.
};

}  // namespace tpuslice::runtime
