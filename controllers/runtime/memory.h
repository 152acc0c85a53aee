// Memory that the allocator keeps after it was freed.
#pragma once

namespace tpuslice::runtime {

/// Limits the number of heaps, since each keeps the memory that its threads once used. Call it before threads start.
void share_heaps();

/// Returns free memory to the system, also from the middle of heaps. Takes about a millisecond.
void return_free_memory();

/// Calls return_free_memory() if much memory is free: after one large object the process must not stay large.
void return_free_memory_if_much();

}  // namespace tpuslice::runtime
