#include "controllers/runtime/memory.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace tpuslice::runtime {
namespace {

constexpr std::size_t kMebibyte = 1U << 20U;

// Sanitizers have an allocator of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

TEST(FreeMemoryReturner, ReturnsWhatWasFreedOnceTheProcessHasGrown) {
  constexpr std::size_t kBlock = 1024;
  constexpr std::size_t kBlocks = 32 * kMebibyte / kBlock;
  FreeMemoryReturner returner;
  returner.step();
  std::vector<std::unique_ptr<char[]>> blocks(kBlocks);
  for (auto& block : blocks) block = std::make_unique<char[]>(kBlock);
  // Some stay, so that the allocator cannot return the rest by itself.
  for (std::size_t i = 0; i < kBlocks; ++i) {
    if (i % 64 != 63) blocks[i].reset();
  }
  const std::size_t before = resident_memory();
  returner.step();
  EXPECT_LT(resident_memory() + 16 * kMebibyte, before);
}

#endif

TEST(ResidentMemory, IsThatOfThisProcess) {
  EXPECT_GT(resident_memory(), kMebibyte);
  EXPECT_LT(resident_memory(), 1024 * kMebibyte);
}

}  // namespace
}  // namespace tpuslice::runtime
