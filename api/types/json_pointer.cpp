#include "api/types/json_pointer.h"

namespace tpuslice {

Result<std::vector<std::string>> parse_json_pointer(std::string_view pointer) {
  std::vector<std::string> keys;
  if (pointer.empty()) return keys;
  if (pointer.front() != '/') return Error::invalid_argument("\"{}\" must be empty or start with '/'", pointer);
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      keys.emplace_back();
    } else if (pointer[i] != '~') {
      keys.back() += pointer[i];
    } else if (const std::string_view escape = pointer.substr(i + 1, 1); escape == "0" || escape == "1") {
      keys.back() += escape == "0" ? '~' : '/';
      ++i;
    } else {
      return Error::invalid_argument("\"{}\" has a '~' that is neither \"~0\" nor \"~1\"", pointer);
    }
  }
  return keys;
}

void append_to_json_pointer(std::string& pointer, std::string_view key) {
  pointer += '/';
  for (const char c : key) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
}

}  // namespace tpuslice
