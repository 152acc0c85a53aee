// The files of the page that shows a fleet. They are as in the source tree: there is no build step.
#pragma once

#include <string_view>
#include <vector>

namespace tpuslice::fleet {

struct PageFile {
  std::string_view name;  ///< "main.js"
  std::string_view text;
};

/// All files of the page, index.html first.
[[nodiscard]] const std::vector<PageFile>& page_files();

/// The file of that name; null if there is none.
[[nodiscard]] const PageFile* find_page_file(std::string_view name);

/// The media type of a file by the end of its name.
[[nodiscard]] std::string_view content_type_of(std::string_view name);

}  // namespace tpuslice::fleet
