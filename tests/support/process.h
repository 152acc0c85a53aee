// Process: a child process of a test that never outlives it.
//
//   auto etcd = Process::start({.program = "/usr/bin/etcd", .args = {"--data-dir=d"}, .log = "etcd.log"});
//   ...
//   (*etcd)->kill();
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/base/result.h"

namespace tpuslice::testing {

struct ProcessOptions {
  std::string program;  ///< Its path.
  std::vector<std::string> args = {};
  std::string log = {};        ///< Its output is appended to this file; empty: discarded.
  std::string directory = {};  ///< Working directory; empty: ours.
  std::vector<std::pair<std::string, std::string>> env = {};  ///< Added to our own; the last value of a name wins.
};

/// A thread starts the program and waits for it. The kernel kills the program with that thread (PR_SET_PDEATHSIG), so
/// it exits with this object, and also if this process crashes. The program has its own process group, so that an
/// interrupt of the terminal does not reach it, and none of our open files. Thread-safe.
class Process {
 public:
  /// Errors: NotFound if the file does not exist or is not executable; Internal.
  static Result<std::unique_ptr<Process>> start(ProcessOptions options);
  ~Process();  ///< Kills it.
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] const std::string& log() const { return options_.log; }
  [[nodiscard]] bool running() const { return !exit_code().has_value(); }
  /// Restarts the program a second after each exit, as a kubelet does with a container, until kill(). Until then
  /// running() is true.
  void restart_on_exit() TPUSLICE_EXCLUDES(mutex_);
  /// 128 + signal if it was killed by a signal; std::nullopt while it runs.
  [[nodiscard]] std::optional<int> exit_code() const TPUSLICE_EXCLUDES(mutex_);
  /// Waits for its exit; std::nullopt after `limit`.
  [[nodiscard]] std::optional<int> wait(Duration limit) const TPUSLICE_EXCLUDES(mutex_);
  /// What the kernel says of its memory. Errors: NotFound after its exit.
  [[nodiscard]] Result<double> resident_mib() const { return status_mib("VmRSS:"); }
  [[nodiscard]] Result<double> peak_resident_mib() const { return status_mib("VmHWM:"); }
  /// No effect after its exit.
  void signal(int number) TPUSLICE_EXCLUDES(mutex_);
  /// SIGKILL; returns after its exit.
  void kill() TPUSLICE_EXCLUDES(mutex_);

 private:
  explicit Process(ProcessOptions options) : options_(std::move(options)) {}
  void run() TPUSLICE_EXCLUDES(mutex_);
  /// A field of /proc/<pid>/status. Source: proc(5).
  [[nodiscard]] Result<double> status_mib(std::string_view field) const;
  /// Returns the exit code of the program.
  int run_once() TPUSLICE_EXCLUDES(mutex_);
  /// Waits before a restart. Without restarts, records `exit_code` and returns false.
  bool wait_to_restart(int exit_code) TPUSLICE_EXCLUDES(mutex_);

  const ProcessOptions options_;
  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  pid_t pid_ TPUSLICE_GUARDED_BY(mutex_) = -1;
  bool alive_ TPUSLICE_GUARDED_BY(mutex_) = false;  ///< `pid_` may be signalled.
  bool restarts_ TPUSLICE_GUARDED_BY(mutex_) = false;
  bool started_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::optional<int> exit_code_ TPUSLICE_GUARDED_BY(mutex_);
  std::jthread thread_;
};

/// What a command of the shell prints, stdout and stderr, without white space at both ends. For commands that end soon.
/// Errors: NotFound with that if it fails.
[[nodiscard]] Result<std::string> output_of(const std::string& command);

}  // namespace tpuslice::testing
