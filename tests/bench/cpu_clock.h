// CPU time in nanoseconds; /proc has hundredths of a second.
#pragma once

#include <sys/types.h>

#include <ctime>

namespace tpuslice::bench {

[[nodiscard]] inline double cpu_seconds_of(clockid_t clock) {
  timespec time{};
  return clock_gettime(clock, &time) == 0 ? static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9
                                          : 0;
}

/// User and system time of all threads of a process so far; 0 after its exit.
[[nodiscard]] inline double cpu_seconds_of_process(pid_t process) {
  clockid_t clock = 0;
  return clock_getcpuclockid(process, &clock) == 0 ? cpu_seconds_of(clock) : 0;
}

}  // namespace tpuslice::bench
