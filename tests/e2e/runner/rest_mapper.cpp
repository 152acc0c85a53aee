#include "tests/e2e/runner/rest_mapper.h"

#include <algorithm>

#include "api/base/strings.h"

namespace tpuslice::e2e {

std::string_view RestMapper::keep(std::string text) { return texts_.emplace_back(std::move(text)); }

Result<Json> RestMapper::get(const std::string& path) {
  http::Request request;
  request.target = path;
  request.headers = {{"Accept", "application/json"}};
  ASSIGN_OR_RETURN(const http::Response response, client_.raw(std::move(request)));
  return parse_json(response.body);
}

Status RestMapper::load_group(const std::string& group_version) {
  const std::size_t slash = group_version.find('/');
  const bool core = slash == std::string::npos;
  ASSIGN_OR_RETURN(const Json list, get((core ? "/api/" : "/apis/") + group_version));
  const std::string_view group = keep(core ? "" : group_version.substr(0, slash));
  const std::string_view version = keep(core ? group_version : group_version.substr(slash + 1));
  for (const Json& resource : array_at(list, {"resources"})) {
    const std::string plural = string_at(resource, {"name"});
    if (plural.find('/') != std::string::npos) continue;
    Entry entry;
    entry.type = {group, version, keep(string_at(resource, {"kind"})), keep(plural), bool_at(resource, {"namespaced"})};
    entry.names = {plural, to_lower(string_at(resource, {"kind"})), entry.type.resource()};
    for (const Json& each : array_at(resource, {"shortNames"})) entry.names.push_back(each.get<std::string>());
    entries_.push_back(std::move(entry));
  }
  return {};
}

Status RestMapper::load() {
  entries_.clear();
  RETURN_IF_ERROR(load_group("v1"));
  ASSIGN_OR_RETURN(const Json groups, get("/apis"));
  for (const Json& group : array_at(groups, {"groups"})) {
    RETURN_IF_ERROR(load_group(string_at(group, {"preferredVersion", "groupVersion"})));
  }
  return {};
}

Result<ResourceType> RestMapper::for_kind(const std::string& api_version, const std::string& kind) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (const Entry& entry : entries_) {
      if (entry.type.kind == kind && entry.type.api_version() == api_version) return entry.type;
    }
    if (attempt == 0) RETURN_IF_ERROR(load());
  }
  return Error::not_found("no kind {} in {} is served", kind, api_version);
}

Result<ResourceType> RestMapper::for_resource(const std::string& name) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (const Entry& entry : entries_) {
      if (std::find(entry.names.begin(), entry.names.end(), to_lower(name)) != entry.names.end()) return entry.type;
    }
    if (attempt == 0) RETURN_IF_ERROR(load());
  }
  return Error::not_found("no resource {} is served", name);
}

}  // namespace tpuslice::e2e
