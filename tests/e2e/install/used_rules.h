// Which rules of deploy/rbac the requests of an audit log use.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::testing {

/// One request that the API server has authorized or refused.
struct AuditedRequest {
  std::string user;  ///< Name of the ServiceAccount.
  std::string verb;
  std::string group;
  std::string resource;  ///< "pods", "pods/status"
  std::string namespace_name;
  std::string name;
  int code = 0;
  [[nodiscard]] std::string to_string() const;
};

/// Completed requests of ServiceAccounts of `namespace_name`, for resources. Errors: NotFound.
[[nodiscard]] Result<std::vector<AuditedRequest>> read_audit_log(const std::string& path,
                                                                 const std::string& namespace_name);

/// One verb for one resource, as a file of deploy/rbac grants it.
struct Grant {
  std::string file;
  std::string verb;
  std::string group;
  std::string resource;
  std::string namespace_name;                   ///< Of a Role; empty: all.
  std::set<std::string> names;                  ///< resourceNames; empty: all.
  [[nodiscard]] std::string to_string() const;  ///< "slice: patch pods"
  [[nodiscard]] bool allows(const AuditedRequest& request) const;
};

/// The rules of the ClusterRoles and Roles of `file` ("slice") with these objects.
[[nodiscard]] std::vector<Grant> grants_of(const std::string& file, const std::vector<Json>& objects);

}  // namespace tpuslice::testing
