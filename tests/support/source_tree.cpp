#include "tests/support/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tpuslice {
namespace {

namespace fs = std::filesystem;

SourceFile read_lines(const fs::path& path) {
  SourceFile file{path.generic_string(), {}};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

}  // namespace

std::vector<SourceFile> read_files(const std::vector<std::string>& folders,
                                   const std::vector<std::string>& extensions) {
  std::vector<SourceFile> files;
  const auto wanted = [&](const fs::path& path) {
    return std::find(extensions.begin(), extensions.end(), path.extension().string()) != extensions.end();
  };
  for (const std::string& folder : folders) {
    if (fs::is_regular_file(folder)) {
      files.push_back(read_lines(folder));
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file() && wanted(entry.path())) files.push_back(read_lines(entry.path()));
    }
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::vector<SourceFile> read_sources(const std::vector<std::string>& folders) {
  return read_files(folders, {".h", ".cpp"});
}

std::string text_of(const SourceFile& file) {
  std::string text;
  for (const std::string& line : file.lines) text += line + "\n";
  return text;
}

}  // namespace tpuslice
