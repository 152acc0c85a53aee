#include "cmd/kubectl-tpu/archive.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "tests/support/error_matchers.h"

namespace tpuslice::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ArchiveTest : public ::testing::Test {
 protected:
  ArchiveTest() : folder_(::testing::TempDir() + "/archive-" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~ArchiveTest() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/x.tar.gz"; }
  /// The output of tar, which shares no code with this program.
  std::string tar(const std::string& arguments) const {
    const std::string out = folder_ + "/out";
    const int status = std::system(("tar " + arguments + " >" + out + " 2>&1").c_str());
    EXPECT_EQ(status, 0) << read_file(out).value_or("");
    return read_file(out).value_or("");
  }

  const std::string folder_;
  const FakeClock clock_;
};

TEST_F(ArchiveTest, IsReadByTar) {
  const std::string longer(2'000, 'x');
  {
    const auto archive = Archive::create(path(), 1U << 20U, clock_.wall()).value();
    ASSERT_TRUE(archive->add("a.json", "{}").ok());
    ASSERT_TRUE(archive->add("folder/b.log", longer).ok());
    ASSERT_TRUE(archive->add("empty", "").ok());
    ASSERT_TRUE(archive->finish().ok());
    EXPECT_EQ(archive->entries(), 3U);
  }
  EXPECT_EQ(tar("-tzf " + path()), "a.json\nfolder/b.log\nempty\n");
  EXPECT_EQ(tar("-xzOf " + path() + " folder/b.log"), longer);
  EXPECT_THAT(tar("--utc -tvzf " + path()), HasSubstr("2026-01-01 00:00"));
}

TEST_F(ArchiveTest, IsReadByItsOwnerOnly) {
  ASSERT_TRUE(Archive::create(path(), 1, clock_.wall()).ok());
  struct stat status {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(ArchiveTest, DoesNotReplaceAFile) {
  ASSERT_TRUE(Archive::create(path(), 1, clock_.wall()).ok());
  EXPECT_THAT(Archive::create(path(), 1, clock_.wall()), IsError(ErrorCode::kInvalidArgument, HasSubstr("exists")));
}

TEST_F(ArchiveTest, IsBounded) {
  const auto archive = Archive::create(path(), 10, clock_.wall()).value();
  ASSERT_TRUE(archive->add("a", "12345678").ok());
  ASSERT_TRUE(archive->add("b", "12345678").ok());
  ASSERT_TRUE(archive->finish().ok());
  EXPECT_THAT(archive->cut(), ElementsAre("b"));
  EXPECT_EQ(tar("-xzOf " + path() + " b"), "12");
}

}  // namespace
}  // namespace tpuslice::plugin
