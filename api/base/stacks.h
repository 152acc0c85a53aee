// Stacks of the threads of this process, when it crashes and while it runs.
//
// Frames are printed as `program(+0x1234) [0x55d0...]`. The offset is resolved with the debug file of the same build
// id:
//
//   addr2line -C -f -i -e tpu-slice-operator.debug 0x1234
#pragma once

#include <string>
#include <string_view>

namespace tpuslice {

/// From now on a fatal signal, a failed check and an exception that nothing catches write their reason, the build id
/// and the stacks of all threads to standard error; then the process ends by the signal, as without this. Called once,
/// before other threads start. An overflow of the stack prints nothing.
void report_crashes();

/// Forbids core dumps, which would have private keys and tokens, of this process and those that it starts. Debuggers
/// can still attach.
void forbid_core_dumps();

/// Writes the stack of each thread to `fd`; when it returns, no thread uses `fd`. Waits at most 200 ms for
/// each thread that does not begin to answer. Only one call at a time writes; another returns at once.
/// Async-signal-safe after report_crashes() or another call.
void write_stacks(int fd);

/// What write_stacks() writes. Empty if another call is writing.
[[nodiscard]] std::string stacks_of_all_threads();

/// The build id in hexadecimal, from the program's ELF note; empty if it was linked without one.
[[nodiscard]] std::string_view build_id();

/// Names the calling thread in stacks, `top` and debuggers; the kernel keeps 15 characters.
void name_thread(std::string_view name);

}  // namespace tpuslice
