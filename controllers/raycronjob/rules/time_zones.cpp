#include "controllers/raycronjob/rules/time_zones.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "api/base/strings.h"

namespace tpuslice::raycronjob {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string, std::less<>>;

constexpr const char* kDatabase = "/usr/share/zoneinfo";

/// Copies of the whole database, some with leap seconds, and names of files that are no zones.
bool is_zone_name(std::string_view name) {
  return !name.starts_with("posix/") && !name.starts_with("right/") && name != "localtime" && name != "posixrules" &&
         name.find('.') == std::string_view::npos && name != "leapseconds" && name != "leap-seconds.list" &&
         name != "+VERSION";
}

Names read_names() {
  Names names;
  std::error_code error;
  fs::recursive_directory_iterator entry(kDatabase, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    std::string name = entry->path().lexically_relative(kDatabase).generic_string();
    if (is_zone_name(name)) names.insert(std::move(name));
  }
  return names;
}

const Names& all_names() {
  static const Names kNames = read_names();
  return kNames;
}

}  // namespace

Result<cctz::time_zone> find_time_zone(const std::string& name) {
  if (name == "UTC") return cctz::utc_time_zone();
  const Names& names = all_names();
  if (names.empty()) {
    return Error::invalid_argument("the operator has no time zone database in {}; only UTC can be used", kDatabase);
  }
  cctz::time_zone zone;
  if (names.contains(name) && cctz::load_time_zone(name, &zone)) return zone;
  const auto similar = std::ranges::find_if(names, [&](const auto& each) { return equals_ignoring_case(each, name); });
  if (similar != names.end() && *similar != name) {
    return Error::invalid_argument("is not a name of the IANA time zone database; {} is one", *similar);
  }
  return Error::invalid_argument(
      "is not a name of the IANA time zone database, such as Europe/Berlin, America/New_York or UTC");
}

}  // namespace tpuslice::raycronjob
