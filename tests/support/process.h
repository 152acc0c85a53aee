// Process: a program that runs beside a test and never outlives it.
//
//   auto etcd = Process::start({.program = "/usr/bin/etcd", .args = {"--data-dir=d"}, .log = "etcd.log"});
//   ...
//   (*etcd)->kill();
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
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
  std::string log = {};        ///< Where its output goes, added at the end; empty: nowhere.
  std::string directory = {};  ///< Works there; empty: where we do.
  std::vector<std::pair<std::string, std::string>> env = {};  ///< Added to our own; the last of a name counts.
};

/// Has a thread of its own that starts the program and waits for its end: the kernel is asked to end the program with
/// that thread (PR_SET_PDEATHSIG), so it dies with this object, and also when this process dies of whatever. The
/// program has a process group of its own, so that an interrupt at the terminal does not reach it, and none of our open
/// files. Thread-safe.
class Process {
 public:
  /// Errors: NotFound if the file is not there or cannot be run; Internal.
  static Result<std::unique_ptr<Process>> start(ProcessOptions options);
  ~Process();  ///< Kills it.
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] const std::string& log() const { return options_.log; }
  [[nodiscard]] bool running() const { return !exit_code().has_value(); }
  /// From now on the program is started again, a second after it ended of itself, as a kubelet does with a container;
  /// until kill() it counts as running.
  void restart_when_ended() TPUSLICE_EXCLUDES(mutex_);
  /// 128 + signal for one that was killed; nothing while it runs.
  [[nodiscard]] std::optional<int> exit_code() const TPUSLICE_EXCLUDES(mutex_);
  /// Waits for its end. Nothing if it still runs after `limit`.
  [[nodiscard]] std::optional<int> wait(Duration limit) const TPUSLICE_EXCLUDES(mutex_);
  /// Nothing happens once it has ended.
  void signal(int number) TPUSLICE_EXCLUDES(mutex_);
  /// SIGKILL; returns when it is gone.
  void kill() TPUSLICE_EXCLUDES(mutex_);

 private:
  explicit Process(ProcessOptions options) : options_(std::move(options)) {}
  void run() TPUSLICE_EXCLUDES(mutex_);
  /// Returns the exit code of the program.
  int run_once() TPUSLICE_EXCLUDES(mutex_);
  /// Waits before another start. False: `ended` was the last word.
  bool starts_again(int ended) TPUSLICE_EXCLUDES(mutex_);

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

}  // namespace tpuslice::testing
