#include "cmd/tpu-slice-sim/table/age.h"

namespace tpuslice::sim {

std::string age_at(const Json& object, std::initializer_list<std::string_view> path, Timestamp now) {
  const auto since = parse_rfc3339(string_at(object, path));
  return since ? human_duration(now - *since) : "<unknown>";
}

}  // namespace tpuslice::sim
