// An API server in a map: enough of it for the webhook's certificates.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/http/transport.h"
#include "api/types/json.h"
#include "api/types/patch.h"

namespace tpuslice::webhook::testing {

class FakeApi final : public http::Transport {
 public:
  std::map<std::string, Json> objects;  ///< By path.
  std::vector<std::string> writes;      ///< "PATCH /api/v1/..."
  int refuse_writes_with = 0;           ///< HTTP status of the next write; 0: none.

  Result<http::Response> call(const http::Request& request, Duration, std::stop_token) override {
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (request.method == "GET") return found(path);
    writes.push_back(request.method + " " + path);
    if (refuse_writes_with != 0) return failure(std::exchange(refuse_writes_with, 0));
    const Json body = Json::parse(request.body);
    if (request.method == "POST") {
      const std::string at = path + "/" + body["metadata"]["name"].get<std::string>();
      if (objects.contains(at)) return failure(409);
      return store(at, body);
    }
    if (request.method != "PATCH" || !objects.contains(path)) return failure(404);
    const bool merge = http::find_header(request.headers, "Content-Type")->starts_with("application/merge-patch");
    if (merge) {
      const std::string expected = string_at(body, {"metadata", "resourceVersion"});
      if (!expected.empty() && expected != string_at(objects[path], {"metadata", "resourceVersion"}))
        return failure(409);
      return store(path, apply_merge_patch(objects[path], body));
    }
    const auto patched = apply_json_patch(objects[path], body);
    return patched ? store(path, *patched) : failure(422);
  }

  Result<std::unique_ptr<http::Stream>> open(const http::Request&, Duration, std::stop_token) override {
    return Error::unavailable("no streams here");
  }

 private:
  Result<http::Response> found(const std::string& path) const {
    const auto object = objects.find(path);
    return object == objects.end() ? failure(404) : reply(200, object->second);
  }
  Result<http::Response> store(const std::string& path, Json object) {
    object["metadata"]["resourceVersion"] = std::to_string(++revision_);
    if (!object["metadata"].contains("uid")) object["metadata"]["uid"] = "u-" + std::to_string(revision_);
    objects[path] = object;
    return reply(200, object);
  }
  static http::Response failure(int status) {
    const char* reason = status == 404 ? "NotFound" : status == 409 ? "Conflict" : "Invalid";
    return reply(status, {{"kind", "Status"},
                          {"apiVersion", "v1"},
                          {"status", "Failure"},
                          {"reason", reason},
                          {"message", reason},
                          {"code", status}});
  }
  static http::Response reply(int status, const Json& body) {
    return {status, {{"Content-Type", "application/json"}}, body.dump()};
  }

  int revision_ = 0;
};

}  // namespace tpuslice::webhook::testing
