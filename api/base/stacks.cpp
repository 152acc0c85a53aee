#include "api/base/stacks.h"

#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>

namespace tpuslice {
namespace {

constexpr int kMaxFrames = 64;
constexpr long kAnswerNanoseconds = 200'000'000;
/// Seconds after which a crash ends the process although its stacks are not written, such as when a lock is held.
constexpr unsigned kCrashTimeout = 5;

// Everything below runs in signal handlers: it allocates nothing and takes no lock.

void write_text(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_number(int fd, std::uint64_t value, int base = 10) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
  write_text(fd, {digits.data(), static_cast<std::size_t>(end - digits.data())});
}

/// The stack of the calling thread, with the thread's name.
void write_own_stack(int fd) {
  std::array<char, 16> name{};
  prctl(PR_GET_NAME, name.data());
  write_text(fd, "thread ");
  write_number(fd, static_cast<std::uint64_t>(gettid()));
  write_text(fd, " \"");
  write_text(fd, name.data());
  write_text(fd, "\":\n");
  std::array<void*, kMaxFrames> frames{};
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), kMaxFrames), fd);
}

/// The thread that is asked for its stack.
struct Question {
  std::atomic<pid_t> thread = 0;
  std::atomic<int> fd = -1;
  sem_t answered{};
};
Question question;
std::atomic_flag writing = ATOMIC_FLAG_INIT;

int question_signal() { return SIGRTMIN + 1; }

extern "C" void answer_question(int) {
  const int saved = errno;
  pid_t self = gettid();
  // A thread that answers too late finds that another one is asked.
  if (question.thread.compare_exchange_strong(self, 0)) {
    write_own_stack(question.fd);
    sem_post(&question.answered);
  }
  errno = saved;
}

/// Installs the handler and loads what backtrace() needs, which allocates at its first call.
void prepare() {
  static const bool kPrepared = [] {
    std::array<void*, 1> frame{};
    backtrace(frame.data(), 1);
    sem_init(&question.answered, 0, 0);
    struct sigaction action {};
    action.sa_handler = answer_question;
    action.sa_flags = SA_RESTART;
    sigaction(question_signal(), &action, nullptr);
    return true;
  }();
  static_cast<void>(kPrepared);
}

void write_stack_of(int fd, pid_t thread) {
  if (thread == gettid()) return write_own_stack(fd);
  question.fd = fd;
  question.thread = thread;
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += kAnswerNanoseconds;
  until.tv_sec += until.tv_nsec / 1'000'000'000;
  until.tv_nsec %= 1'000'000'000;
  if (syscall(SYS_tgkill, getpid(), thread, question_signal()) == 0) {
    int result = 0;
    while ((result = sem_timedwait(&question.answered, &until)) != 0 && errno == EINTR) continue;
    if (result == 0) return;
  }
  pid_t asked = thread;
  if (!question.thread.compare_exchange_strong(asked, 0)) {
    // It is writing. When the caller closes `fd`, its number may become that of another file.
    while (sem_wait(&question.answered) != 0 && errno == EINTR) continue;
    return;
  }
  write_text(fd, "thread ");
  write_number(fd, static_cast<std::uint64_t>(thread));
  write_text(fd, ": does not answer\n");
}

/// The entry of a folder as the kernel writes it for getdents64.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];  // NOLINT(modernize-avoid-c-arrays): the layout of the kernel.
};

void write_all(int fd) {
  const int tasks = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return write_own_stack(fd);
  alignas(DirectoryEntry) std::array<char, 4096> entries{};
  long bytes = 0;
  while ((bytes = syscall(SYS_getdents64, tasks, entries.data(), entries.size())) > 0) {
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(entries.data() + at);  // NOLINT
      const char* const name = static_cast<const char*>(entry->name);
      pid_t thread = 0;
      std::from_chars(name, name + std::strlen(name), thread);
      if (thread > 0) write_stack_of(fd, thread);
      at += entry->length;
    }
  }
  ::close(tasks);
}

std::string_view name_of_signal(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGABRT:
      return "SIGABRT";
    default:
      return "signal";
  }
}

extern "C" void report_crash(int signal, siginfo_t* info, void*) {
  std::signal(SIGALRM, SIG_DFL);
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  alarm(kCrashTimeout);
  write_text(STDERR_FILENO, "fatal: ");
  write_text(STDERR_FILENO, name_of_signal(signal));
  if (signal == SIGSEGV || signal == SIGBUS) {
    write_text(STDERR_FILENO, " at address 0x");
    write_number(STDERR_FILENO, reinterpret_cast<std::uintptr_t>(info->si_addr), 16);
  }
  write_text(STDERR_FILENO, " in ");
  write_own_stack(STDERR_FILENO);
  write_stacks(STDERR_FILENO);
  raise(signal);  // Its default action now, after this handler returns.
}

void report_exception() {
  write_text(STDERR_FILENO, "fatal: an exception was not caught");
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& problem) {
      write_text(STDERR_FILENO, ": ");
      write_text(STDERR_FILENO, problem.what());
    } catch (...) {
      write_text(STDERR_FILENO, ": not a std::exception");
    }
  }
  write_text(STDERR_FILENO, "\n");
  std::abort();
}

std::string read_build_id() {
  std::string id;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* out) {
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = object->dlpi_phdr[i];
          if (header.p_type != PT_NOTE) continue;
          const auto* at = reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);  // NOLINT
          const auto* const end = at + header.p_memsz;
          while (at + sizeof(ElfW(Nhdr)) <= end) {
            const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);  // NOLINT
            const auto padded = [](std::size_t size) { return (size + 3U) & ~std::size_t{3}; };
            const char* const name = at + sizeof(*note);
            const char* const text = name + padded(note->n_namesz);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
              constexpr std::string_view kDigits = "0123456789abcdef";
              for (std::size_t j = 0; j < note->n_descsz; ++j) {
                const auto byte = static_cast<unsigned char>(text[j]);
                *static_cast<std::string*>(out) += kDigits[byte >> 4U];
                *static_cast<std::string*>(out) += kDigits[byte & 0xfU];
              }
              return 1;
            }
            at = text + padded(note->n_descsz);
          }
        }
        return 1;  // The program itself is the first object.
      },
      &id);
  return id;
}

}  // namespace

void report_crashes() {
  prepare();
  static_cast<void>(build_id());
  std::set_terminate(report_exception);
  struct sigaction action {};
  action.sa_sigaction = report_crash;
  action.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
}

void forbid_core_dumps() {
  // Linux ignores a limit of 0 if the core pattern is a pipe; 1 stops these dumps, too.
  const rlimit limit{1, 1};
  setrlimit(RLIMIT_CORE, &limit);
}

void write_stacks(int fd) {
  prepare();
  if (writing.test_and_set()) return;
  write_text(fd, "build id ");
  write_text(fd, build_id());
  write_text(fd, "\n");
  write_all(fd);
  writing.clear();
}

std::string stacks_of_all_threads() {
  std::string out;
  const int file = memfd_create("stacks", MFD_CLOEXEC);
  if (file < 0) return out;
  write_stacks(file);
  ::lseek(file, 0, SEEK_SET);
  std::array<char, 4096> part{};
  for (ssize_t bytes = 0; (bytes = ::read(file, part.data(), part.size())) > 0;) {
    out.append(part.data(), static_cast<std::size_t>(bytes));
  }
  ::close(file);
  return out;
}

std::string_view build_id() {
  static const std::string kId = read_build_id();
  return kId;
}

void name_thread(std::string_view name) {
  const std::string kept(name.substr(0, 15));
  pthread_setname_np(pthread_self(), kept.c_str());
}

}  // namespace tpuslice
