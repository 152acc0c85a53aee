#include "cmd/tpu-slice-sim/server/request_info.h"

#include "api/base/percent.h"
#include "api/http/url.h"
#include "api/types/json.h"
#include "api/types/utf8.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"

namespace tpuslice::sim {

Result<RequestInfo> parse_request_path(std::string_view path) {
  RequestInfo info;
  while (!path.empty()) {
    path.remove_prefix(1);  // The slash.
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) {
      Result<std::string> segment = percent_decode(path.substr(0, slash));
      if (!segment) return bad_request(segment.error().message());
      if (!is_utf8(*segment)) return bad_request("the path of the request is not UTF-8");
      info.segments.push_back(*std::move(segment));
    }
    path.remove_prefix(slash);
  }
  const std::vector<std::string>& all = info.segments;
  if (all.empty() || (all[0] != "api" && all[0] != "apis")) return info;
  std::size_t next = all[0] == "api" ? 1 : 2;  // Position of the version.
  if (all.size() < next + 2) return info;
  if (next == 2) info.group = all[1];
  info.version = all[next++];
  info.resource_request = true;
  std::vector<std::string> rest(all.begin() + static_cast<std::ptrdiff_t>(next), all.end());
  // "namespaces/x/status" is a subresource of the namespace, "namespaces/x/pods" a resource in it.
  const bool own_part = rest.size() == 3 && (rest[2] == "status" || rest[2] == "finalize");
  if (rest[0] == "namespaces" && rest.size() >= 3 && !own_part) {
    info.namespace_name = rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  info.plural = rest[0];
  if (rest.size() > 1) info.name = rest[1];
  if (rest.size() > 2) info.subresource = rest[2];
  return info;
}

}  // namespace tpuslice::sim
