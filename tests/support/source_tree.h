// The files of the source tree, read by the tests of the project. Tests run from the source root.
#pragma once

#include <string>
#include <vector>

namespace tpuslice {

struct SourceFile {
  std::string path;  ///< From the source root.
  std::vector<std::string> lines;
};

/// C++ files below `folders`.
[[nodiscard]] std::vector<SourceFile> read_sources(const std::vector<std::string>& folders);

/// Files below `folders` (a folder or a single file each) whose names end in one of `extensions` (".md").
[[nodiscard]] std::vector<SourceFile> read_files(const std::vector<std::string>& folders,
                                                 const std::vector<std::string>& extensions);

/// The lines of a file, joined.
[[nodiscard]] std::string text_of(const SourceFile& file);

}  // namespace tpuslice
