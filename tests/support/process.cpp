#include "tests/support/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "api/base/strings.h"
#include "api/http/io_threads.h"

namespace tpuslice::testing {
namespace {

constexpr Duration kRestartPause = std::chrono::seconds(1);

/// What the child needs, made before the fork: after it, only calls that are safe in a signal handler are allowed.
struct Launch {
  explicit Launch(const ProcessOptions& options)
      : parent(getpid()),
        directory(options.directory.c_str()),
        log(options.log.empty() ? "/dev/null" : options.log.c_str()),
        arguments(options.args),
        environment(http::environment_for_children(options.env)) {
    arguments.insert(arguments.begin(), options.program);
    argv = c_strings(arguments);
    envp = c_strings(environment);
  }

  [[noreturn]] void child() const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // it died before it could be tied to us
    setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
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
    return Error::not_found("{}: cannot be run: {}", options.program, std::strerror(errno));
  }
  std::unique_ptr<Process> process(new Process(std::move(options)));
  Process& self = *process;
  self.thread_ = std::jthread([&self] { self.run(); });
  std::unique_lock lock(self.mutex_);
  self.changed_.wait(lock, [&self] { return self.started_; });
  if (self.pid_ < 0) return Error::internal("{}: no process can be made", self.options_.program);
  return process;
}

Process::~Process() { kill(); }

void Process::run() {
  while (starts_again(run_once())) {
  }
}

int Process::run_once() {
  const Launch launch(options_);
  const pid_t pid = fork();
  if (pid == 0) launch.child();
  {
    const MutexLock lock(mutex_);
    pid_ = pid;
    alive_ = pid > 0;
    started_ = true;
  }
  changed_.notify_all();
  if (pid < 0) return 127;
  // Its number is given back under the lock, so that nobody signals another process of the same number.
  siginfo_t ended{};
  while (waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  const MutexLock lock(mutex_);
  alive_ = false;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool Process::starts_again(int ended) {
  std::unique_lock lock(mutex_);
  if (restarts_) changed_.wait_for(lock, kRestartPause, [this] { return !restarts_; });
  if (restarts_) return true;
  exit_code_ = ended;
  lock.unlock();
  changed_.notify_all();
  return false;
}

pid_t Process::pid() const {
  const MutexLock lock(mutex_);
  return pid_;
}

void Process::restart_when_ended() {
  const MutexLock lock(mutex_);
  restarts_ = true;
}

std::optional<int> Process::exit_code() const {
  const MutexLock lock(mutex_);
  return exit_code_;
}

std::optional<int> Process::wait(Duration limit) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [this] { return exit_code_.has_value(); });
  return exit_code_;
}

void Process::signal(int number) {
  const MutexLock lock(mutex_);
  if (alive_) ::kill(pid_, number);
}

void Process::kill() {
  std::unique_lock lock(mutex_);
  restarts_ = false;
  if (alive_) ::kill(pid_, SIGKILL);
  changed_.notify_all();
  changed_.wait(lock, [this] { return exit_code_.has_value(); });
}

}  // namespace tpuslice::testing
