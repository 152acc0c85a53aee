#include "cmd/kubectl-tpu/workload_document.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/types/utf8.h"
#include "api/types/yaml.h"
#include "cmd/kubectl-tpu/target.h"
#include "cmd/kubectl-tpu/workload_pods.h"

namespace tpuslice::plugin {
namespace {

/// Events of the core group: the field selectors of events.k8s.io differ between versions.
constexpr ResourceType kCoreEvents{"", "v1", "Event", "events"};
constexpr std::size_t kMaxConditions = 50;
constexpr std::size_t kMaxReadEvents = 1000;
constexpr std::size_t kMaxTextOfObject = 1000;  ///< Bytes of a message.

std::string text_at(const Json& json, const char* member) { return clip(string_at(json, {member}), kMaxTextOfObject); }

/// When it was seen last.
std::string time_of(const Json& event) {
  std::string time = string_at(event, {"series", "lastObservedTime"});
  for (const char* member : {"lastTimestamp", "eventTime"}) {
    if (time.empty()) time = string_at(event, {member});
  }
  return time.empty() ? string_at(event, {"metadata", "creationTimestamp"}) : time;
}

Json shown_event(const Json& event) {
  return {{"time", time_of(event)},
          {"type", text_at(event, "type")},
          {"reason", text_at(event, "reason")},
          {"message", text_at(event, "message")},
          {"count", std::max(int_at(event, {"series", "count"}, 1), int_at(event, {"count"}, 1))}};
}

std::string shown_yaml(const Object& object) {
  Json json = object.json();
  if (json.contains("metadata")) {
    Json& metadata = json["metadata"];
    metadata.erase("managedFields");
    if (metadata.contains("annotations") && metadata["annotations"].is_object()) {
      metadata["annotations"].erase("kubectl.kubernetes.io/last-applied-configuration");
    }
  }
  return clip(to_yaml(json), kMaxShownYaml);
}

}  // namespace

Json workload_document(const Object& object, const std::vector<Object>& events) {
  Json conditions = Json::array();
  for (const Json& each : array_at(object.json(), {"status", "conditions"})) {
    if (conditions.size() == kMaxConditions) break;
    conditions.push_back({{"type", text_at(each, "type")},
                          {"status", text_at(each, "status")},
                          {"reason", text_at(each, "reason")},
                          {"message", text_at(each, "message")},
                          {"since", text_at(each, "lastTransitionTime")}});
  }
  std::vector<Json> shown;
  shown.reserve(events.size());
  for (const Object& event : events) shown.push_back(shown_event(event.json()));
  std::ranges::stable_sort(shown, std::greater<>(), [](const Json& event) { return string_at(event, {"time"}); });
  if (shown.size() > kMaxShownEvents) shown.resize(kMaxShownEvents);
  return {{"conditions", std::move(conditions)}, {"events", std::move(shown)}, {"yaml", shown_yaml(object)}};
}

Result<Json> read_workload_document(client::Client& api, const std::string& kind, const ObjectKey& key,
                                    const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const ResourceType type, workload_type_of(kind));
  ASSIGN_OR_RETURN(const Object object, api.get(type, key, stop));
  std::vector<Object> events;
  const client::ListOptions options{
      .namespace_name = key.namespace_name,
      .field_selector = fmt::format("involvedObject.kind={},involvedObject.name={}", type.kind, key.name)};
  const auto keep = [&](Object event) {
    const std::string uid = string_at(event.json(), {"involvedObject", "uid"});
    if (uid.empty() || uid == object.uid()) events.push_back(std::move(event));
    return events.size() < kMaxReadEvents;
  };
  const Status listed = for_each_object(api, kCoreEvents, options, keep, stop);
  Json document = workload_document(object, events);
  if (!listed.ok()) document["eventsProblem"] = clip(listed.error().message(), kMaxTextOfObject);
  return document;
}

}  // namespace tpuslice::plugin
