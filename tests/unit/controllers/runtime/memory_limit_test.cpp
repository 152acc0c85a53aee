#include "controllers/runtime/memory_limit.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace tpuslice::runtime {
namespace {

namespace fs = std::filesystem;

class MemoryLimit : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(dir_); }
  void TearDown() override { fs::remove_all(dir_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((dir_ / path).parent_path());
    std::ofstream(dir_ / path) << text;
  }
  [[nodiscard]] std::optional<std::size_t> limit() const { return memory_limit(dir_ / "fs", dir_ / "self"); }

  const fs::path dir_ =
      fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(MemoryLimit, OfAContainerWithVersion2IsInTheRoot) {
  write("self", "0::/\n");
  write("fs/memory.max", "536870912\n");
  EXPECT_EQ(limit(), 512U << 20U);
}

TEST_F(MemoryLimit, IsTheLeastOfTheCgroupsAround) {
  write("self", "0::/kubepods/pod1/operator\n");
  write("fs/kubepods/memory.max", "max\n");
  write("fs/kubepods/pod1/memory.max", "1000000\n");
  write("fs/kubepods/pod1/operator/memory.max", "2000000\n");
  EXPECT_EQ(limit(), 1'000'000U);
}

TEST_F(MemoryLimit, OfVersion1IsThatOfTheControllerMemory) {
  write("self", "5:cpu,cpuacct:/x\n4:hugetlb,memory:/not/mounted/here\n0::/\n");
  write("fs/memory/memory.limit_in_bytes", "536870912\n");
  EXPECT_EQ(limit(), 512U << 20U);
}

TEST_F(MemoryLimit, IsAbsentWithoutOne) {
  EXPECT_EQ(limit(), std::nullopt) << "no cgroups";
  write("self", "4:memory:/\n0::/\n");
  write("fs/memory.max", "max\n");
  write("fs/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limit(), std::nullopt);
}

TEST(TheDefaultMemoryBudget, IsThreeEighthsOfTheLimit) {
  EXPECT_EQ(memory_budget_of(512U << 20U), 192U << 20U);
  EXPECT_EQ(memory_budget_of(std::nullopt), 384U << 20U);
}

}  // namespace
}  // namespace tpuslice::runtime
