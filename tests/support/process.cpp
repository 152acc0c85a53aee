#include "tests/support/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "api/base/environment.h"
#include "api/base/strings.h"

namespace tpuslice::testing {
namespace {

constexpr Duration kRestartDelay = std::chrono::seconds(1);

/// The data of the child, built before vfork(): until execve() the child shares the memory of this process.
struct Launch {
  explicit Launch(const ProcessOptions& options)
      : parent(getpid()),
        directory(options.directory.c_str()),
        log(options.log.empty() ? "/dev/null" : options.log.c_str()),
        arguments(options.args),
        environment(environment_with(options.env)) {
    arguments.insert(arguments.begin(), options.program);
    argv = c_strings(arguments);
    envp = c_strings(environment);
  }

  [[noreturn]] void child() const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // The parent exited before prctl().
    setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);  // NOLINT(concurrency-mt-unsafe): the child has one thread
    for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) std::signal(number, SIG_DFL);
    const int in = open("/dev/null", O_RDONLY);
    const int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(127);
    close_range(3, ~0U, 0);
    if (*directory != '\0' && chdir(directory) != 0) _exit(127);
    execve(argv.front(), argv.data(), envp.data());
    _exit(127);
  }

  const pid_t parent;
  const char* const directory;
  const char* const log;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
};

}  // namespace

Result<std::unique_ptr<Process>> Process::start(ProcessOptions options) {
  if (access(options.program.c_str(), X_OK) != 0) {
    return Error::not_found("{}: cannot be run: {}", options.program, std::generic_category().message(errno));
  }
  std::unique_ptr<Process> process(new Process(std::move(options)));
  Process& self = *process;
  self.thread_ = std::jthread([&self] { self.run(); });
  const MutexLock lock(self.mutex_);
  self.changed_.wait(self.mutex_, [&self]() TPUSLICE_REQUIRES(self.mutex_) { return self.started_; });
  if (self.pid_ < 0) return Error::internal("{}: fork failed", self.options_.program);
  return process;
}

Process::~Process() { kill(); }

void Process::run() {
  while (wait_to_restart(run_once())) {
  }
}

int Process::run_once() {
  const Launch launch(options_);
  // A simulated cluster is large: fork() would copy its page tables, and every page that it then writes.
  const pid_t pid = vfork();
  if (pid == 0) launch.child();
  {
    const MutexLock lock(mutex_);
    pid_ = pid;
    alive_ = pid > 0;
    started_ = true;
  }
  changed_.notify_all();
  if (pid < 0) return 127;
  // waitpid() frees the pid under the lock, so that signal() cannot reach another process with the same pid.
  siginfo_t exited{};
  while (waitid(P_PID, static_cast<id_t>(pid), &exited, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  const MutexLock lock(mutex_);
  alive_ = false;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool Process::wait_to_restart(int exit_code) {
  const MutexLock lock(mutex_);
  const auto stopped = [this]() TPUSLICE_REQUIRES(mutex_) { return !restarts_; };
  if (restarts_) changed_.wait_for(mutex_, kRestartDelay, stopped);
  if (restarts_) return true;
  exit_code_ = exit_code;
  changed_.notify_all();
  return false;
}

pid_t Process::pid() const {
  const MutexLock lock(mutex_);
  return pid_;
}

void Process::restart_on_exit() {
  const MutexLock lock(mutex_);
  restarts_ = true;
}

std::optional<int> Process::exit_code() const {
  const MutexLock lock(mutex_);
  return exit_code_;
}

std::optional<int> Process::wait(Duration limit) const {
  const MutexLock lock(mutex_);
  changed_.wait_for(mutex_, limit, [this]() TPUSLICE_REQUIRES(mutex_) { return exit_code_.has_value(); });
  return exit_code_;
}

void Process::signal(int number) {
  const MutexLock lock(mutex_);
  if (alive_) ::kill(pid_, number);
}

void Process::kill() {
  const MutexLock lock(mutex_);
  restarts_ = false;
  if (alive_) ::kill(pid_, SIGKILL);
  changed_.notify_all();
  changed_.wait(mutex_, [this]() TPUSLICE_REQUIRES(mutex_) { return exit_code_.has_value(); });
}

Result<std::string> output_of(const std::string& command) {
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return Error::internal("{}: cannot be run", command);
  std::string output;
  std::array<char, 1024> buffer{};
  while (const std::size_t size = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), size);
  if (pclose(pipe) != 0) return Error::not_found("{}", trimmed(output));
  return trimmed(output);
}

Result<double> Process::status_mib(std::string_view field) const {
  std::ifstream in(fmt::format("/proc/{}/status", pid()));
  for (std::string line; running() && std::getline(in, line);) {
    if (!line.starts_with(field)) continue;
    return std::strtod(line.c_str() + field.size(), nullptr) / 1024;
  }
  return Error::not_found("process {} has exited", pid());
}

}  // namespace tpuslice::testing
