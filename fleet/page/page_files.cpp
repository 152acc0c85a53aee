#include "fleet/page/page_files.h"

#include <algorithm>

namespace tpuslice::fleet {

const PageFile* find_page_file(std::string_view name) {
  const auto& files = page_files();
  const auto found = std::ranges::find(files, name, &PageFile::name);
  return found == files.end() ? nullptr : &*found;
}

std::string_view content_type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "image/svg+xml";
}

}  // namespace tpuslice::fleet
