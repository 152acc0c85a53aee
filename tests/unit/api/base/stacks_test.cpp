#include "api/base/stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>

#include "api/base/check.h"
#include "api/base/pause.h"

namespace tpuslice {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;

/// A thread with a name that waits until it is destroyed.
class Waiting {
 public:
  explicit Waiting(const std::string& name)
      : thread_([this, name] {
          name_thread(name);
          started_.count_down();
          end_.wait();
        }) {
    started_.wait();
  }
  ~Waiting() { end_.count_down(); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  std::latch started_{1};
  std::latch end_{1};
  std::jthread thread_;
};

TEST(Stacks, OfEachThreadWithItsName) {
  const Waiting first("first");
  const Waiting second("second of several");
  const std::string stacks = stacks_of_all_threads();
  EXPECT_THAT(stacks, ContainsRegex("thread [0-9]+ \"first\":\n.*\\(.*\\) ?\\[0x[0-9a-f]+\\]"));
  EXPECT_THAT(stacks, ContainsRegex("thread [0-9]+ \"second of sever\":\n"));
}

TEST(Stacks, BeginWithTheBuildId) {
  ASSERT_THAT(std::string(build_id()), ContainsRegex("^[0-9a-f]{16,}$"));
  EXPECT_THAT(stacks_of_all_threads(), HasSubstr("build id " + std::string(build_id()) + "\n"));
}

TEST(Stacks, AreWrittenAgainAndAgain) {
  const Waiting waiting("waiting");
  for (int i = 0; i < 20; ++i) EXPECT_THAT(stacks_of_all_threads(), HasSubstr("\"waiting\"")) << i;
}

/// Waits at the end of many calls, so that its stack has as many frames as are written.
[[gnu::noinline]] void wait_deeply(std::latch& started, std::latch& end, int calls) {
  if (calls > 0) {
    wait_deeply(started, end, calls - 1);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // So that the call above is not the last.
    return;
  }
  started.count_down();
  end.wait();
}

/// Regression: the thread wrote on when the call had returned, to a descriptor that the caller had closed.
TEST(Stacks, AreCompleteWhenAThreadWritesSlowly) {
  std::array<int, 2> sockets{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()), 0);
  const int least = 1;  // Room for a few lines.
  ASSERT_EQ(::setsockopt(sockets[1], SOL_SOCKET, SO_SNDBUF, &least, sizeof least), 0);
  std::string read;
  std::latch blocked{1};
  std::jthread reader([&, in = sockets[0]] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);  // Its own stack would wait for itself.
    blocked.count_down();
    char byte = 0;
    bool waited = false;
    while (::read(in, &byte, 1) == 1) {
      read += byte;
      if (waited || !read.ends_with("\"slow\":\n")) continue;
      pause(std::chrono::milliseconds(500), {});
      waited = true;
    }
  });
  blocked.wait();
  std::latch started{1};
  std::latch end{1};
  // The last one that is asked, so that the call has nothing else to write.
  std::jthread slow([&] {
    name_thread("slow");
    wait_deeply(started, end, 100);
  });
  started.wait();
  write_stacks(sockets[1]);
  ::close(sockets[1]);
  reader.join();
  ::close(sockets[0]);
  end.count_down();
  const std::size_t begin = read.find("\"slow\":\n");
  ASSERT_NE(begin, std::string::npos) << read;
  const std::string stack = read.substr(begin, read.find("thread ", begin) - begin);
  EXPECT_EQ(std::ranges::count(stack, '\n'), 1 + 64) << "all frames\n" << stack;
}

using CrashDeathTest = ::testing::Test;

// The stack of the thread that crashed is the first.
constexpr const char* kStackOfAnother = "build id [0-9a-f]*\n(.|\n)*thread [0-9]+ \"bystander\":\n";

TEST(CrashDeathTest, OfASignalReportsAllStacksAndEndsByTheSignal) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        report_crashes();
        const Waiting bystander("bystander");
        raise(SIGSEGV);
      },
      KilledBySignal(SIGSEGV), ContainsRegex(std::string("fatal: SIGSEGV at address 0x(.|\n)*") + kStackOfAnother));
}

TEST(CrashDeathTest, WritesNoCoreDump) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto dumped_nothing = [](int status) { return WIFSIGNALED(status) && !WCOREDUMP(status); };
  EXPECT_EXIT(
      {
        rlimit limit{};
        getrlimit(RLIMIT_CORE, &limit);
        limit.rlim_cur = limit.rlim_max;  // As in a container.
        setrlimit(RLIMIT_CORE, &limit);
        report_crashes();
        forbid_core_dumps();
        raise(SIGSEGV);
      },
      dumped_nothing, "fatal: SIGSEGV");
}

TEST(CrashDeathTest, OfAFailedCheckReportsAllStacks) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        report_crashes();
        const Waiting bystander("bystander");
        TPUSLICE_CHECK_MSG(false, "two leaders");
      },
      KilledBySignal(SIGABRT),
      ContainsRegex(std::string("two leaders\n(.|\n)*fatal: SIGABRT(.|\n)*") + kStackOfAnother));
}

TEST(CrashDeathTest, OfAnExceptionInAThreadReportsWhatWasThrown) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        report_crashes();
        std::jthread([] { throw std::runtime_error("pod has no name"); }).join();
      },
      KilledBySignal(SIGABRT), ContainsRegex("fatal: an exception was not caught: pod has no name\n(.|\n)*SIGABRT"));
}

}  // namespace
}  // namespace tpuslice
