#include "tests/e2e/generated_attacks/memory_limit.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/format.h>

namespace tpuslice::testing {
namespace {

namespace fs = std::filesystem;

/// RLIMIT_DATA also counts the reserved stacks of threads, 8 MiB each, of which little is used.
constexpr int kStacksMib = 320;

/// A hierarchy with the memory controller.
struct Hierarchy {
  const char* mechanism;
  fs::path root;
  std::string controllers;  ///< As in /proc/self/cgroup.
  const char* limit;        ///< File with the limit in bytes.
};

/// The cgroup of this process.
std::string own_cgroup(const std::string& controllers) {
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    if (line.substr(first + 1, second - first - 1) == controllers) return line.substr(second + 1);
  }
  return "/";
}

bool write_number(const fs::path& file, std::int64_t number) {
  if (!fs::exists(file)) return false;
  std::ofstream out(file);
  out << number << std::flush;
  return out.good();
}

/// A new cgroup with that limit below `parent`; empty if it cannot be made.
std::string make_cgroup(const Hierarchy& hierarchy, const fs::path& parent, int mib) {
  const fs::path folder = parent / fmt::format("tpuslice-attacks-{}", getpid());
  std::error_code problem;
  if (!fs::create_directory(folder, problem)) return {};
  if (write_number(folder / hierarchy.limit, std::int64_t{mib} << 20)) return folder.string();
  fs::remove(folder, problem);
  return {};
}

/// Our own cgroup may be below what is mounted, and may not have the controller for its children.
std::string make_cgroup(const Hierarchy& hierarchy, int mib) {
  for (fs::path path = own_cgroup(hierarchy.controllers);; path = path.parent_path()) {
    const fs::path parent = hierarchy.root / path.relative_path();
    if (std::string made = fs::exists(parent) ? make_cgroup(hierarchy, parent, mib) : std::string(); !made.empty()) {
      return made;
    }
    if (path == path.parent_path()) return {};
  }
}

}  // namespace

Result<std::unique_ptr<MemoryLimit>> MemoryLimit::create(const std::string& program, int mib) {
  std::unique_ptr<MemoryLimit> out(new MemoryLimit());
  out->directory_ = (fs::temp_directory_path() / "tpuslice-limit-XXXXXX").string();
  if (mkdtemp(out->directory_.data()) == nullptr) return Error::internal("{}: cannot be created", out->directory_);
  out->mechanism_ = "RLIMIT_DATA";
  std::string line = fmt::format("ulimit -d {}", (mib + kStacksMib) * 1024);
  for (const Hierarchy& hierarchy :
       {Hierarchy{"cgroup v2", "/sys/fs/cgroup", "", "memory.max"},
        Hierarchy{"cgroup v1", "/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes"}}) {
    if (!fs::exists(hierarchy.root / "cgroup.procs")) continue;
    out->cgroup_ = make_cgroup(hierarchy, mib);
    if (out->cgroup_.empty()) continue;
    out->mechanism_ = hierarchy.mechanism;
    line = fmt::format("echo 0 >'{}/cgroup.procs'", out->cgroup_);
    break;
  }
  out->program_ = out->directory_ + "/limited-program.sh";
  std::ofstream script(out->program_);
  script << "#!/bin/sh\nset -e\n" << line << "\nexec '" << program << "' \"$@\"\n" << std::flush;
  std::error_code problem;
  fs::permissions(out->program_, fs::perms::owner_all, problem);
  if (!script.good() || problem) return Error::internal("{}: cannot be written", out->program_);
  return out;
}

MemoryLimit::~MemoryLimit() {
  std::error_code problem;
  fs::remove_all(directory_, problem);
  if (!cgroup_.empty()) ::rmdir(cgroup_.c_str());
}

}  // namespace tpuslice::testing
