// Exchanges: requests that a real API server and the simulated one must answer alike, read from exchanges/*.yaml.
//
//   objects:                                    # optional: bodies used below by name
//     map: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
//   exchanges:
//     - name: a stale resourceVersion is refused
//       steps:
//         - do: POST /api/v1/namespaces/$ns/configmaps
//           object: map                         # with: {...} merges into it
//           save: {rv: metadata.resourceVersion}
//         - do: PATCH /api/v1/namespaces/$ns/configmaps/a
//           type: merge                         # json, merge, strategic, apply: the Content-Type of a patch
//           body: {data: {k: v}}
//           query: {fieldManager: me}
//           headers: {User-Agent: me}
//           show: [metadata.generation, items[].metadata.name]   # of the body; everything where absent
//         - do: WATCH /api/v1/namespaces/$ns/configmaps
//           query: {resourceVersion: $rv}
//           events: 2                           # reads so many, then closes; without: until the server ends it
//         - until: GET /api/v1/... 200          # repeated until the status code matches; not recorded
//         - expire: $rv                         # history up to here is forgotten; not recorded
//       known:                                  # differences that stay, each with its reason
//         - {at: /1/body/message, why: ...}
//
// $ns is a namespace of the exchange's own. A body that is a string is sent as it is.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::conformance {

struct Step {
  enum class Kind : std::uint8_t { kRequest, kWatch, kUntil, kExpire };
  Kind kind = Kind::kRequest;
  std::string method;
  std::string path;  ///< Encoded, without query.
  Json query = Json::object();
  Json headers = Json::object();
  Json body;  ///< Null: none.
  std::map<std::string, std::string> save;
  std::optional<std::vector<std::string>> show;
  std::size_t events = 0;  ///< Of a watch; 0: until its end.
  int code = 0;            ///< Of kUntil.
};

struct KnownDifference {
  std::string at;  ///< JSON pointer into the list of replies; includes everything below.
  std::string why;
};

struct Exchange {
  std::string area;  ///< Its file, without folder and ending.
  std::string name;
  std::string space;  ///< Its namespace.
  std::vector<Step> steps;
  std::vector<KnownDifference> known;

  [[nodiscard]] std::string id() const { return area + ": " + name; }
};

/// Errors: InvalidArgument naming file and exchange.
[[nodiscard]] Result<std::vector<Exchange>> load_exchanges(const std::string& folder);

/// The value at "metadata.name"; "items[].metadata.name" gives a list. Null if absent.
[[nodiscard]] Json value_at(const Json& json, std::string_view path);

}  // namespace tpuslice::conformance
