// The cases of a golden test: folders, each with an input and the expected output.
//
// TPUSLICE_GOLDEN=update (`make golden`) writes the actual output; read the difference before committing it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/file.h"
#include "tests/golden/short_form.h"

namespace tpuslice::golden {

/// The names of the folders in `folder`, sorted.
inline std::vector<std::string> cases(const std::filesystem::path& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) out.push_back(entry.path().filename());
  }
  std::ranges::sort(out);
  return out;
}

/// The name of the case without characters that GoogleTest does not allow.
inline std::string name_of(const testing::TestParamInfo<std::string>& test) {
  std::string name = test.param;
  std::erase_if(name, [](char c) { return c == '-'; });
  return name;
}

/// Compares `now` with the documents of the file, or writes them.
inline void expect_as_written(const std::vector<Json>& now, const std::filesystem::path& file) {
  const std::string text = print(shorten(now));
  const Result<std::vector<Json>> read_back = parse(text);
  ASSERT_TRUE(read_back.ok()) << read_back.error().message();
  ASSERT_EQ(print(expand(*read_back)), print(now)) << "the short form lost a value";
  const char* mode = std::getenv("TPUSLICE_GOLDEN");  // NOLINT(concurrency-mt-unsafe): single-threaded
  if (mode != nullptr && std::string_view(mode) == "update") {
    std::ofstream(file) << text;
    return;
  }
  const std::string written = read_file(file.string()).value_or("");
  const Result<std::vector<Json>> expected = parse(written);
  ASSERT_TRUE(expected.ok()) << file << ": " << expected.error().message();
  ASSERT_EQ(print(now), print(expand(*expected))) << "values differ; `make golden` writes " << file;
  EXPECT_EQ(text, written) << "only the form differs; `make golden` writes " << file;
}

}  // namespace tpuslice::golden
