// The memory limit of this process, and what of it the objects in stores may take.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tpuslice::runtime {

/// The least limit of the cgroups that this process is in, of version 1 or 2; nullopt without one. `mount` is where
/// they are mounted, `self` the file with those of this process.
[[nodiscard]] std::optional<std::size_t> memory_limit(const std::string& mount = "/sys/fs/cgroup",
                                                      const std::string& self = "/proc/self/cgroup");

/// The budget without a limit: as for one of 1 GiB.
inline constexpr std::size_t kDefaultMemoryBudget = 384U << 20U;

/// The memory budget for a limit. Of the rest, admission reviews may take a tenth of the shipped limit
/// (webhook/webhook_server.cpp); programs, plans, lists that are read, and what the allocator does not return take the
/// other half.
[[nodiscard]] std::size_t memory_budget_of(std::optional<std::size_t> limit);

}  // namespace tpuslice::runtime
