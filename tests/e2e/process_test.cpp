#include "tests/support/process.h"
#include "api/base/file.h"

#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/control_plane_files.h"
#include "tests/support/eventually.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

bool exists(pid_t pid) { return ::kill(pid, 0) == 0; }

class ProcessTest : public ::testing::Test {
 protected:
  std::unique_ptr<Process> shell(const std::string& script) {
    auto started = Process::start(
        {.program = "/bin/sh", .args = {"-c", script}, .log = log_, .directory = "/", .env = {{"GREETING", "hello"}}});
    EXPECT_TRUE(started.ok());
    return std::move(started).value();
  }
  ~ProcessTest() override { std::filesystem::remove(log_); }

  const std::string log_ = ::testing::TempDir() + "process_test." + std::to_string(getpid()) + ".log";
};

TEST_F(ProcessTest, ReturnsTheExitStatus) {
  EXPECT_EQ(shell("exit 3")->wait(10s), 3);
  EXPECT_EQ(shell("kill -TERM $$")->wait(10s), 128 + SIGTERM);
}

TEST_F(ProcessTest, AppendsOutputToItsLog) {
  EXPECT_EQ(shell("echo $GREETING from $PWD; echo oops >&2")->wait(10s), 0);
  EXPECT_EQ(shell("echo again")->wait(10s), 0);
  EXPECT_EQ(read_file(log_).value_or(""), "hello from /\noops\nagain\n");
}

TEST_F(ProcessTest, GetsSignals) {
  const auto process = shell("exec sleep 60");
  EXPECT_TRUE(process->running());
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(10s), 128 + SIGTERM);
  process->signal(SIGTERM);  // No effect.
}

TEST_F(ProcessTest, ExitsWhenKilledOrDestroyed) {
  const auto killed = shell("exec sleep 60");
  killed->kill();
  EXPECT_FALSE(exists(killed->pid()));
  pid_t pid = 0;
  {
    const auto destroyed = shell("exec sleep 60");
    pid = destroyed->pid();
    EXPECT_TRUE(exists(pid));
  }
  EXPECT_FALSE(exists(pid));
}

TEST_F(ProcessTest, IsRestartedIfRequested) {
  const auto process = shell("echo here; exec sleep 60");
  const pid_t first = process->pid();
  const auto printed = [&](const std::string& text) {
    return eventually([&] { return read_file(log_).value_or("") == text; });
  };
  EXPECT_TRUE(printed("here\n"));
  process->restart_on_exit();
  process->signal(SIGTERM);
  EXPECT_TRUE(printed("here\nhere\n"));
  EXPECT_TRUE(process->running());
  EXPECT_NE(process->pid(), first);
  process->kill();
  EXPECT_EQ(process->exit_code(), 128 + SIGKILL);
  EXPECT_EQ(read_file(log_).value_or(""), "here\nhere\n");
}

TEST_F(ProcessTest, IsNotRestartedAfterKill) {
  const auto process = shell("exit 3");
  process->restart_on_exit();
  process->kill();  // Usually while it waits to restart.
  EXPECT_FALSE(process->running());
}

TEST_F(ProcessTest, OutlivesTheThreadThatStartedIt) {
  std::unique_ptr<Process> process;
  std::jthread([&] { process = shell("exec sleep 60"); }).join();
  EXPECT_EQ(process->wait(200ms), std::nullopt);
}

TEST_F(ProcessTest, RefusesAMissingProgram) {
  const auto refused = Process::start({.program = "/no/such/program"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace tpuslice::testing
