#include "tests/support/autoscaler/status_report.h"

#include <fmt/format.h>

#include "api/types/yaml.h"

namespace tpuslice::testing {
namespace {

constexpr ResourceType kCoreEvents{"", "v1", "Event", "events"};
constexpr const char* kLastUpdated = "cluster-autoscaler.kubernetes.io/last-updated";
constexpr const char* kComponent = "cluster-autoscaler";

/// "2026-01-01 12:00:00.123456 +0000 UTC": the layout of the autoscaler's annotation.
std::string go_time(Timestamp time) {
  std::string text = format_rfc3339_micro(time);
  text[text.find('T')] = ' ';
  text.pop_back();
  return text + " +0000 UTC";
}

Json status_of_group(const GroupReport& group) {
  const char* scale_up = group.in_backoff ? "Backoff" : group.target > group.ready ? "InProgress" : "NoActivity";
  return {{"name", group.name},
          {"health",
           {{"status", "Healthy"},
            {"cloudProviderTarget", group.target},
            {"minSize", group.min},
            {"maxSize", group.max},
            {"nodeCounts", {{"registered", {{"total", group.registered}, {"ready", group.ready}}}}}}},
          {"scaleUp", {{"status", scale_up}}},
          {"scaleDown", {{"status", group.unneeded ? "CandidatesPresent" : "NoCandidates"}}}};
}

}  // namespace

Status StatusReport::write(int nodes, const std::vector<GroupReport>& groups) {
  Json status = {{"autoscalerStatus", "Running"}, {"time", go_time(clock_.wall())}};
  status["clusterWide"]["health"] = {{"status", "Healthy"}, {"nodeCounts", {{"registered", {{"total", nodes}}}}}};
  status["nodeGroups"] = Json::array();
  for (const GroupReport& group : groups) status["nodeGroups"].push_back(status_of_group(group));
  const ObjectKey key = autoscaler_status_key();
  const Json metadata = {{"annotations", {{kLastUpdated, go_time(clock_.wall())}}}};
  Json config_map = {{"metadata", metadata}, {"data", {{"status", to_yaml(status)}}}};
  const auto patched = writer_.patch(kConfigMaps, key, client::PatchType::kMerge, config_map, {}, {});
  if (patched) return {};
  if (patched.error().code() != ErrorCode::kNotFound) return patched.error();
  config_map["apiVersion"] = "v1";
  config_map["kind"] = "ConfigMap";
  config_map["metadata"]["namespace"] = key.namespace_name;
  config_map["metadata"]["name"] = key.name;
  const auto created = writer_.create(kConfigMaps, Object(std::move(config_map)), {}, {});
  return created ? Status() : Status(created.error());
}

Status StatusReport::remove() {
  const Status removed = writer_.remove(kConfigMaps, autoscaler_status_key(), {}, {});
  return !removed && removed.error().code() == ErrorCode::kNotFound ? Status() : removed;
}

Status StatusReport::pod_triggered(const ObservedPod& pod, const std::string& group, int size) {
  return record(pod, "TriggeredScaleUp",
                fmt::format("pod triggered scale-up: [{{{} 0->{} (max: {})}}]", group, size, size));
}

Status StatusReport::pod_not_triggered(const ObservedPod& pod, const std::map<std::string, int>& reasons) {
  std::string text;
  for (const auto& [reason, groups] : reasons) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", groups, reason);
  }
  return record(pod, "NotTriggerScaleUp", "pod didn't trigger scale-up: " + text);
}

Status StatusReport::record(const ObservedPod& pod, const std::string& reason, const std::string& message) {
  std::string& last = last_[pod.info.uid];
  if (last == reason + message) return {};
  const ObjectKey& key = pod.info.key;
  const std::string now = format_rfc3339(clock_.wall());
  const Json event = {
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", {{"name", fmt::format("{}.ca{:x}", key.name, ++events_)}, {"namespace", key.namespace_name}}},
      {"involvedObject",
       {{"apiVersion", "v1"},
        {"kind", "Pod"},
        {"namespace", key.namespace_name},
        {"name", key.name},
        {"uid", pod.info.uid}}},
      {"type", "Normal"},
      {"reason", reason},
      {"message", message},
      {"source", {{"component", kComponent}}},
      {"firstTimestamp", now},
      {"lastTimestamp", now},
      {"count", 1}};
  const auto created = writer_.create(kCoreEvents, Object(event), {}, {});
  // The namespace may be terminating; events are not retried.
  if (!created && created.error().code() == ErrorCode::kUnavailable) return created.error();
  last = reason + message;
  return {};
}

}  // namespace tpuslice::testing
