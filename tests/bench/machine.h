// What processes of this machine use, from /proc.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "api/base/clock.h"
#include "api/base/result.h"

namespace tpuslice::bench {

/// CPU seconds of a process so far, user and system, all threads; 0 once it is gone.
[[nodiscard]] double cpu_seconds(pid_t process);
/// Resident memory in MiB; 0 once it is gone.
[[nodiscard]] double resident_mebibytes(pid_t process);

/// CPU seconds of all processes of the machine so far.
[[nodiscard]] double machine_cpu_seconds();
[[nodiscard]] int machine_cores();
/// "Intel Xeon ..." as the kernel calls it.
[[nodiscard]] std::string machine_model();

void pause_for(Duration time);

/// Waits until those whose CPU seconds `used` counts do nothing but what an idle control plane does.
/// Errors: Timeout.
Status wait_for_rest(const std::function<double()>& used, Duration limit);

}  // namespace tpuslice::bench
