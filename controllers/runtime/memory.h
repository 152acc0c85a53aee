// Memory that the allocator keeps after it was freed.
#pragma once

#include <cstddef>

namespace tpuslice::runtime {

/// Limits the number of heaps, since each keeps the memory that its threads once used. Call it before threads start.
void share_heaps();

/// Returns free memory to the system, also from the middle of heaps. Takes longer the larger the heaps are.
void return_free_memory();

/// Resident memory of this process, bytes; 0 if it cannot be read.
[[nodiscard]] std::size_t resident_memory();

/// Calls return_free_memory() when the process has grown: after one large object it must not stay large. The allocator
/// is not asked how much is free, since it would count all free blocks. Not thread-safe.
class FreeMemoryReturner {
 public:
  void step();

 private:
  std::size_t resident_ = 0;  ///< After the last call, or the least since.
};

}  // namespace tpuslice::runtime
