// CPU time and memory of processes, from /proc.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "api/base/clock.h"
#include "api/base/result.h"

namespace tpuslice::bench {

/// CPU seconds of a process so far, user and system, all threads; 0 after its exit.
[[nodiscard]] double cpu_seconds(pid_t process);
/// Resident memory in MiB; 0 after its exit.
[[nodiscard]] double resident_mebibytes(pid_t process);

/// CPU seconds of all processes of the machine so far.
[[nodiscard]] double machine_cpu_seconds();
[[nodiscard]] int machine_cores();
/// "Intel Xeon ...", the model name in /proc/cpuinfo.
[[nodiscard]] std::string machine_model();

void pause_for(Duration time);

/// Waits until the CPU seconds that `used` returns grow no faster than those of an idle control plane. Errors: Timeout.
Status wait_for_rest(const std::function<double()>& used, Duration limit);

}  // namespace tpuslice::bench
