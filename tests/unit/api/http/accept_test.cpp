// The server accepts connections again after it had no memory for one. This file replaces operator new of the program.
#include <atomic>
#include <cstdlib>
#include <new>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/pause.h"
#include "tests/unit/api/http/support.h"

namespace {

/// Smaller ones do not fail: Asio makes some in functions that must not throw.
constexpr std::size_t kFailingSize = 128;
/// So many allocations of other threads than the test's fail.
std::atomic<int> failing_allocations = 0;
thread_local bool is_test_thread = false;

}  // namespace

void* operator new(std::size_t size) {
  int left = is_test_thread || size < kFailingSize ? 0 : failing_allocations.load();
  while (left > 0) {
    if (failing_allocations.compare_exchange_weak(left, left - 1)) throw std::bad_alloc();
  }
  void* memory = std::malloc(size == 0 ? 1 : size);  // NOLINT: this is operator new
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }               // NOLINT
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }  // NOLINT

namespace tpuslice::http::testing {
namespace {

TEST(Server, AcceptsAgainAfterItHadNoMemory) {
  const auto server = start(plain_options(), [](const Request&, const Peer&) { return text_reply(200, "fine"); });
  is_test_thread = true;
  for (const int failures : {1, 2, 5}) {
    failing_allocations = failures;
    for (int i = 0; failing_allocations > 0 && i < 100; ++i) {
      const RawClient refused(server->port());
      pause(std::chrono::milliseconds(20), {});
    }
    ASSERT_EQ(failing_allocations, 0) << "of " << failures;
    RawClient client(server->port());
    client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(client.read_all(), ::testing::StartsWith("HTTP/1.1 200 OK"));
  }
}

}  // namespace
}  // namespace tpuslice::http::testing
