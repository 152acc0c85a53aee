#include "api/client/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "api/base/environment.h"
#include "api/base/strings.h"

namespace tpuslice::client {
namespace {

constexpr std::size_t kMaxOut = 1U << 20U;
constexpr std::size_t kMaxErr = 4096;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return Error::unavailable("no pipe: {}", std::generic_category().message(errno));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// posix_spawn's two settings objects.
class SpawnSettings {
 public:
  SpawnSettings(const Pipe& out, const Pipe& err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, out.write.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, err.write.get(), STDERR_FILENO);
    // Sockets of servers are not close-on-exec: Asio opens them.
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    // A group of its own, so that what it starts can be killed with it; and the signals we block or ignore as usual.
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Reads what is available and appends it up to `limit` bytes; drops the rest. Closes the descriptor at its end.
void drain(Descriptor& from, std::string& into, std::size_t limit) {
  std::array<char, 4096> buffer{};
  const ssize_t size = ::read(from.get(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size <= 0) return from.reset();
  const std::size_t free_bytes = limit - std::min(limit, into.size());
  into.append(buffer.data(), std::min(free_bytes, static_cast<std::size_t>(size)));
}

int poll_timeout(Instant until, Instant now) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

/// A child process: killed if it still runs, and always reaped.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid), exit_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
  ~Child() {
    if (!done_) kill_and_wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// A pidfd, readable once the child has exited; -1 if the kernel has none.
  [[nodiscard]] int exit_fd() const { return exit_.get(); }

  [[nodiscard]] int wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    done_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void kill_and_wait() {
    ::kill(-pid_, SIGKILL);
    static_cast<void>(wait());
  }

 private:
  const pid_t pid_;
  const Descriptor exit_;
  bool done_ = false;
};

Result<pid_t> spawn(const Subprocess& process, const Pipe& out, const Pipe& err) {
  std::vector<std::string> arguments = {process.command};
  arguments.insert(arguments.end(), process.args.begin(), process.args.end());
  std::vector<std::string> environment = environment_with(process.env);
  const SpawnSettings settings(out, err);
  pid_t pid = 0;
  const int problem = posix_spawnp(&pid, process.command.c_str(), settings.actions(), settings.attributes(),
                                   c_strings(arguments).data(), c_strings(environment).data());
  if (problem == ENOENT) return Error::not_found("{}: no such program", process.command);
  if (problem != 0)
    return Error::unavailable("{}: cannot be started: {}", process.command, std::generic_category().message(problem));
  return pid;
}

}  // namespace

Result<SubprocessOutput> run_subprocess(const Subprocess& process) {
  const RealClock clock;
  const Instant until = clock.now() + process.deadline;
  ASSIGN_OR_RETURN(Pipe out, make_pipe());
  ASSIGN_OR_RETURN(Pipe err, make_pipe());
  ASSIGN_OR_RETURN(const pid_t pid, spawn(process, out, err));
  Child child(pid);
  out.write.reset();
  err.write.reset();

  SubprocessOutput output;
  bool exited = false;
  // Ends when the child has exited: processes that it started may keep the pipes open.
  while (!exited && (out.read.open() || err.read.open() || child.exit_fd() >= 0)) {
    std::array<pollfd, 3> waiting = {
        {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}, {child.exit_fd(), POLLIN, 0}}};
    const Instant now = clock.now();
    if (now >= until) return Error::of(ErrorCode::kTimeout, "{}: did not exit in time", process.command);
    if (poll(waiting.data(), waiting.size(), poll_timeout(until, now)) < 0 && errno != EINTR) break;
    const bool idle = waiting[0].revents == 0 && waiting[1].revents == 0;
    if (waiting[0].revents != 0) drain(out.read, output.out, kMaxOut + 1);
    if (waiting[1].revents != 0) drain(err.read, output.err, kMaxErr);
    if (output.out.size() > kMaxOut) return Error::internal("{}: printed more than {} bytes", process.command, kMaxOut);
    exited = waiting[2].revents != 0 && idle;
  }
  output.exit_code = child.wait();
  return output;
}

}  // namespace tpuslice::client
