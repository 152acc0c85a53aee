// What the allocator keeps although nobody uses it.
#pragma once

namespace tpuslice::runtime {

/// Few heaps for many threads: each keeps what its threads once needed. Before the threads that allocate much start.
void share_heaps();

/// Gives free memory back to the system, from the middle of heaps as well. Takes about a millisecond.
void return_free_memory();

}  // namespace tpuslice::runtime
