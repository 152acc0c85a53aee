#include "controllers/runtime/memory_limit.h"

#include <algorithm>
#include <fstream>

#include "api/base/strings.h"

namespace tpuslice::runtime {
namespace {

/// Version 1 states "no limit" as the largest number of pages.
constexpr std::size_t kUnlimited = std::size_t{1} << 60U;
constexpr std::size_t kBudgetParts = 3;
constexpr std::size_t kLimitParts = 8;

/// Lowers `limit` to the one in the file, if it has one: "max" is none.
void read_limit(const std::string& path, std::optional<std::size_t>& limit) {
  std::ifstream in(path);
  std::size_t bytes = 0;
  if (!(in >> bytes) || bytes >= kUnlimited) return;
  limit = std::min(limit.value_or(kUnlimited), bytes);
}

/// Reads the limits of `cgroup` and those around it. In a container, what it has above its own may not be mounted.
void read_limits(const std::string& mount, std::string cgroup, const char* file, std::optional<std::size_t>& limit) {
  for (;;) {
    while (cgroup.ends_with('/')) cgroup.pop_back();
    read_limit(mount + cgroup + "/" + file, limit);
    if (cgroup.empty()) return;
    cgroup.resize(cgroup.rfind('/') == std::string::npos ? 0 : cgroup.rfind('/'));
  }
}

}  // namespace

std::optional<std::size_t> memory_limit(const std::string& mount, const std::string& self) {
  std::optional<std::size_t> limit;
  std::ifstream in(self);
  // "0::/path" in version 2, "5:memory:/path" in version 1. Source: cgroups(7).
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string cgroup = line.substr(second + 1);
    if (controllers.empty()) read_limits(mount, cgroup, "memory.max", limit);
    if (std::ranges::count(split(controllers, ','), "memory") > 0) {
      read_limits(mount + "/memory", cgroup, "memory.limit_in_bytes", limit);
    }
  }
  return limit;
}

std::size_t memory_budget_of(std::optional<std::size_t> limit) {
  return limit ? *limit / kLimitParts * kBudgetParts : kDefaultMemoryBudget;
}

}  // namespace tpuslice::runtime
