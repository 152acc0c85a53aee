#include "controllers/runtime/memory.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace tpuslice::runtime {
namespace {

constexpr std::size_t kMebibyte = 1U << 20U;

// Sanitizers have an allocator of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

constexpr std::size_t kBlock = 1024;
constexpr std::size_t kBlocks = 32 * kMebibyte / kBlock;
using Blocks = std::vector<std::unique_ptr<char[]>>;

Blocks allocate() {
  Blocks blocks(kBlocks);
  for (auto& block : blocks) block = std::make_unique<char[]>(kBlock);
  return blocks;
}

/// Some stay, so that the allocator cannot return the rest by itself.
void free_most(Blocks& blocks) {
  for (std::size_t i = 0; i < kBlocks; ++i) {
    if (i % 64 != 63) blocks[i].reset();
  }
}

TEST(FreeMemoryReturner, ReturnsWhatWasFreedOnceTheProcessHasGrown) {
  FreeMemoryReturner returner;
  returner.step();
  Blocks blocks = allocate();
  free_most(blocks);
  const std::size_t before = resident_memory();
  returner.step();
  EXPECT_LT(resident_memory() + 16 * kMebibyte, before);
}

TEST(FreeMemoryReturner, ReturnsWhatWasStillInUseAtTheLastCall) {
  FreeMemoryReturner returner;
  for (int i = 0; i < 100; ++i) returner.step();
  Blocks blocks = allocate();
  returner.step();
  free_most(blocks);
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
