#include "api/base/environment.h"

#include <unistd.h>

#include <map>
#include <string_view>

#include <fmt/format.h>

namespace tpuslice {

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added) {
  std::map<std::string, std::string, std::less<>> by_name;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view entry = *each;
    const auto equals = entry.find('=');
    if (equals != std::string_view::npos) by_name[std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
  }
  for (const auto& [name, value] : added) by_name[name] = value;
  std::vector<std::string> out;
  out.reserve(by_name.size());
  for (const auto& [name, value] : by_name) out.push_back(fmt::format("{}={}", name, value));
  return out;
}

}  // namespace tpuslice
