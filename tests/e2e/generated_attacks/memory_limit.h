// MemoryLimit: runs a program with a limit of its memory, as the container of deploy/operator has.
//
//   ASSIGN_OR_RETURN(const auto limit, MemoryLimit::create(path_of_operator, 512));
//   OperatorProcess::start({.program = limit->program(), ...});
#pragma once

#include <memory>
#include <string>

#include "api/base/result.h"

namespace tpuslice::testing {

/// In a cgroup (v2 or v1) if one can be made: the kernel kills the program beyond the limit. Otherwise by RLIMIT_DATA:
/// allocations beyond it fail.
class MemoryLimit {
 public:
  /// Writes a script to a new temporary directory. Errors: of the file.
  static Result<std::unique_ptr<MemoryLimit>> create(const std::string& program, int mib);
  ~MemoryLimit();  ///< Removes cgroup and script. The program must have ended.
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  /// Starts the limited program with the same arguments, in the same process.
  [[nodiscard]] const std::string& program() const { return program_; }
  /// "cgroup v1", "cgroup v2" or "RLIMIT_DATA".
  [[nodiscard]] const std::string& mechanism() const { return mechanism_; }

 private:
  MemoryLimit() = default;

  std::string directory_;
  std::string program_;
  std::string mechanism_;
  std::string cgroup_;  ///< Its folder; empty without.
};

}  // namespace tpuslice::testing
