// The page and a fleet in one file, which needs no server and loads nothing: for a ticket, or to keep.
#pragma once

#include <string>

#include "api/types/json.h"
#include "fleet/page/page_files.h"

namespace tpuslice::fleet {

/// The modules of the page as one, in the order in which they need each other. Each becomes a block whose exports are
/// members of a table. The forms of import and export that the page does not use are not supported.
[[nodiscard]] std::string joined_modules(const std::vector<PageFile>& files, std::string_view main);

/// The HTML of the page with `fleet` (of the schema tpuslice.dev/fleet.v1) and the records of its history. Its policy
/// allows the one script and the one style that it has.
[[nodiscard]] std::string page_in_one_file(const Json& fleet, const Json& history);

}  // namespace tpuslice::fleet
