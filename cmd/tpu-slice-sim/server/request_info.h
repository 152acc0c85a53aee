// RequestInfo: the resource that a request path names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"

namespace tpuslice::sim {

/// The parts of "/apis/apps/v1/namespaces/default/statefulsets/web/scale".
struct RequestInfo {
  bool resource_request = false;  ///< Otherwise only `segments` is set: "/version", "/apis/apps/v1".
  std::string group;
  std::string version;
  std::string namespace_name;
  std::string plural;
  std::string name;
  std::string subresource;
  std::vector<std::string> segments;
};

/// Errors: BadRequest for malformed escapes.
[[nodiscard]] Result<RequestInfo> parse_request_path(std::string_view path);

}  // namespace tpuslice::sim
