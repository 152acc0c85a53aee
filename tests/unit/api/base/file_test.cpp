#include "api/base/file.h"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

class FileTest : public ::testing::Test {
 protected:
  ~FileTest() override {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  const std::string path_ = std::filesystem::temp_directory_path() / fmt::format("tpuslice-file-test-{}", getpid());
};

TEST_F(FileTest, ReadsWhatWasWritten) {
  const std::string bytes("a\0\r\n\xff", 5);
  ASSERT_TRUE(write_private_file(path_, "longer than what follows").ok());
  ASSERT_TRUE(write_private_file(path_, bytes).ok());
  EXPECT_EQ(read_file(path_).value(), bytes);
  ASSERT_TRUE(write_private_file(path_, "").ok());
  EXPECT_EQ(read_file(path_).value(), "");
}

TEST_F(FileTest, PrivateFilesAreReadableByTheirOwnerOnly) {
  using std::filesystem::perms;
  ASSERT_TRUE(write_private_file(path_, "key").ok());
  EXPECT_EQ(std::filesystem::status(path_).permissions(), perms::owner_read | perms::owner_write);
}

TEST_F(FileTest, ErrorsNameThePath) {
  const Error absent = read_file(path_).error();
  EXPECT_EQ(absent.code(), ErrorCode::kNotFound);
  EXPECT_THAT(absent.message(), EndsWith(": no such file"));
  EXPECT_THAT(read_file("/").error().message(), StartsWith("/: is a directory"));
  EXPECT_THAT(write_private_file("/no/such/directory", "").error().message(), StartsWith("/no/such/directory: cannot"));
}

}  // namespace
}  // namespace tpuslice
