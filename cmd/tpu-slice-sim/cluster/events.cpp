#include "cmd/tpu-slice-sim/cluster/events.h"

#include <fmt/core.h>

#include "cmd/tpu-slice-sim/cluster/hashing.h"

namespace tpuslice::sim {

void record_event(Registry& registry, const SimEvent& event) {
  const ResourcePtr resource = registry.resources().find_kind("v1", "Event");
  if (resource == nullptr || event.about == nullptr) return;
  const Json& about = *event.about;
  const std::string name = string_at(about, {"metadata", "name"});
  const std::string uid = string_at(about, {"metadata", "uid"});
  const std::string space = string_at(about, {"metadata", "namespace"}, "default");
  const std::string now = format_rfc3339(registry.clock().wall());
  const ObjectKey key{space, fmt::format("{}.{:016x}", name, hash_of({uid, event.reason, event.message}))};
  WriteOptions options;
  options.user = {"system:" + event.component, {"system:authenticated"}};
  if (registry.get(*resource, key)) {
    const auto again = registry.modify(
        *resource, key, {},
        [&](Json& json) -> Status {
          const Json* count = find_path(json, {"count"});
          const std::int64_t before = count != nullptr && count->is_number_integer() ? count->get<std::int64_t>() : 1;
          json["count"] = before + 1;
          json["lastTimestamp"] = now;
          return {};
        },
        options);
    static_cast<void>(again);
    return;
  }
  Json regarding = {
      {"kind", event.kind}, {"apiVersion", string_at(about, {"apiVersion"}, "v1")}, {"name", name}, {"uid", uid}};
  if (!string_at(about, {"metadata", "namespace"}).empty()) regarding["namespace"] = space;
  const Json body = {{"apiVersion", "v1"},
                     {"kind", "Event"},
                     {"metadata", {{"name", key.name}, {"namespace", space}}},
                     {"involvedObject", regarding},
                     {"reason", event.reason},
                     {"message", event.message},
                     {"type", event.type},
                     {"source", {{"component", event.component}}},
                     {"reportingComponent", event.component},
                     {"reportingInstance", ""},
                     {"firstTimestamp", now},
                     {"lastTimestamp", now},
                     {"count", 1}};
  const auto created = registry.create(*resource, Object(body), options);
  static_cast<void>(created);
}

}  // namespace tpuslice::sim
