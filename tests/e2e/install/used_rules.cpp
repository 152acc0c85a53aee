#include "tests/e2e/install/used_rules.h"

#include <fstream>

#include <fmt/format.h>

#include "api/types/object.h"

namespace tpuslice::testing {

std::string AuditedRequest::to_string() const {
  return fmt::format("{}: {} {} {}/{} ({})", user, verb, resource, namespace_name, name, code);
}

Result<std::vector<AuditedRequest>> read_audit_log(const std::string& path, const std::string& namespace_name) {
  std::ifstream in(path);
  if (!in) return Error::not_found("{} cannot be read", path);
  const std::string prefix = fmt::format("system:serviceaccount:{}:", namespace_name);
  std::vector<AuditedRequest> requests;
  for (std::string line; std::getline(in, line);) {
    const auto event = parse_json(line);
    if (!event) continue;  // The last line, of which a part is written.
    const std::string user = string_at(*event, {"user", "username"});
    if (!user.starts_with(prefix) || string_at(*event, {"objectRef", "resource"}).empty()) continue;
    const std::string part = string_at(*event, {"objectRef", "subresource"});
    requests.push_back({user.substr(prefix.size()), string_at(*event, {"verb"}),
                        string_at(*event, {"objectRef", "apiGroup"}),
                        string_at(*event, {"objectRef", "resource"}) + (part.empty() ? "" : "/" + part),
                        string_at(*event, {"objectRef", "namespace"}), string_at(*event, {"objectRef", "name"}),
                        static_cast<int>(int_at(*event, {"responseStatus", "code"}))});
  }
  return requests;
}

std::string Grant::to_string() const { return fmt::format("{}: {} {}", file, verb, resource); }

bool Grant::allows(const AuditedRequest& request) const {
  return request.verb == verb && request.group == group && request.resource == resource &&
         (namespace_name.empty() || namespace_name == request.namespace_name) &&
         (names.empty() || names.contains(request.name));
}

std::vector<Grant> grants_of(const std::string& file, const std::vector<Json>& objects) {
  std::vector<Grant> grants;
  for (const Json& object : objects) {
    for (const Json& rule : array_at(object, {"rules"})) {
      std::set<std::string> names;
      for (const Json& name : array_at(rule, {"resourceNames"})) names.insert(name.get<std::string>());
      for (const Json& group : array_at(rule, {"apiGroups"})) {
        for (const Json& resource : array_at(rule, {"resources"})) {
          for (const Json& verb : array_at(rule, {"verbs"})) {
            grants.push_back({file, verb.get<std::string>(), group.get<std::string>(), resource.get<std::string>(),
                              string_at(object, {"metadata", "namespace"}), names});
          }
        }
      }
    }
  }
  return grants;
}

}  // namespace tpuslice::testing
