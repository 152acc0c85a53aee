#include "tests/support/fleet_document.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "controllers/slice/slice.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

std::string text(std::string_view name) { return std::string(name); }

bool contains(const std::vector<int>& list, int value) { return std::ranges::find(list, value) != list.end(); }

Json ready_condition(bool ready, Timestamp since) {
  return Json::array(
      {Json{{"type", "Ready"}, {"status", ready ? "True" : "False"}, {"lastTransitionTime", format_rfc3339(since)}}});
}

std::string key_of(const SliceDocument& slice) {
  return (slice.slice.empty() ? slice.workload + "-0" : slice.slice) + "-abcdefghijklm";
}

Json make_host(const SliceDocument& slice, int host) {
  const std::string name = fmt::format("{}-{}", slice.slice.empty() ? slice.workload + "-0" : slice.slice, host);
  const Timestamp since = FleetDocument::now() - slice.since;
  const std::string version = slice.api_version.substr(slice.api_version.find('/') + 1);
  const std::string group = slice.api_version.find('/') == std::string::npos
                                ? ""
                                : "." + slice.api_version.substr(0, slice.api_version.find('/'));
  Json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", name},
        {"namespace", slice.namespace_name},
        {"uid", fmt::format("uid-{}-{}", slice.namespace_name, name)},
        {"resourceVersion", "1"},
        {"creationTimestamp", format_rfc3339(since)},
        {"labels", {{text(tpu::kSlice), key_of(slice)}}},
        {"annotations",
         {{text(tpu::kSliceHosts), std::to_string(slice.hosts)},
          {text(tpu::kSliceHost), std::to_string(host)},
          {text(tpu::kTopologyKey), text(tpu::kNodePoolLabel)},
          {text(tpu::kWorkload), fmt::format("{}.{}{}/{}", slice.kind, version, group, slice.workload)}}}}},
      {"spec",
       {{"priority", slice.priority},
        {"schedulingGates", Json::array({Json{{"name", text(tpu::kSliceGate)}}})},
        {"tolerations", Json::array({Json{{"key", "google.com/tpu"}, {"operator", "Exists"}}})},
        {"nodeSelector",
         {{text(tpu::kAcceleratorLabel), slice.accelerator}, {text(tpu::kTopologyLabel), slice.topology}}},
        {"containers", Json::array({Json{{"name", "main"}, {"resources", {{"limits", {{"google.com/tpu", "4"}}}}}}})}}},
      {"status", {{"phase", "Pending"}}}};
  if (slice.deadline > 0) pod["spec"]["activeDeadlineSeconds"] = slice.deadline;
  if (slice.gang > 1) {
    pod["metadata"]["annotations"][text(tpu::kSliceGang)] = slice.workload;
    pod["metadata"]["annotations"][text(tpu::kGangSlices)] = std::to_string(slice.gang);
  }
  if (!slice.waiting.empty()) {
    pod["metadata"]["annotations"][text(tpu::kWaiting)] = slice.waiting;
    pod["metadata"]["annotations"][text(tpu::kWaitingReason)] = "NodesInUse";
  }
  return pod;
}

std::string members_of(const std::vector<Json>& pods) {
  std::vector<slice::PodPtr> views;
  for (const Json& pod : pods) views.push_back(std::make_shared<const PodView>(*PodView::decode(pod.dump())));
  return slice::members_of(slice::read_slice(slice::slice_key(*views.front()), views));
}

void run(const SliceDocument& slice, int host, const std::string& members, Json& pod) {
  const Timestamp since = FleetDocument::now() - slice.since;
  pod["spec"].erase("schedulingGates");
  pod["spec"]["nodeName"] = fmt::format("{}-{}", slice.pool, host);
  pod["spec"]["nodeSelector"][text(tpu::kNodePoolLabel)] = slice.pool;
  Json& annotations = pod["metadata"]["annotations"];
  annotations[text(tpu::kSliceMembers)] = members;
  annotations[text(tpu::kPlacedAt)] = format_rfc3339(since);
  annotations[text(tpu::kPlacedIn)] = slice.pool;
  const bool ready = slice.ready < 0 || host < slice.ready;
  pod["status"] = {{"phase", slice.succeeded ? "Succeeded" : "Running"}, {"conditions", ready_condition(ready, since)}};
  if (host == 1 && !slice.stuck.empty()) {
    pod["status"]["containerStatuses"] = Json::array({Json{
        {"name", "main"}, {"ready", false}, {"restartCount", 3}, {"state", {{"waiting", {{"reason", slice.stuck}}}}}}});
  }
  if (host == 2 && !slice.failed.empty()) {
    pod["status"] = {{"phase", "Failed"},
                     {"containerStatuses",
                      Json::array({Json{{"name", "main"},
                                        {"ready", false},
                                        {"restartCount", 0},
                                        {"state", {{"terminated", {{"reason", slice.failed}, {"exitCode", 137}}}}}}})}};
  }
}

}  // namespace

Timestamp FleetDocument::now() { return *parse_rfc3339("2026-01-01T12:00:00Z"); }

FleetDocument::FleetDocument()
    : json_({{"schema", "tpuslice.dev/snapshot.v1"},
             {"time", format_rfc3339(now())},
             {"cluster",
              {{"name", "prod"}, {"kubernetes", "v1.36.3"}, {"operator", "0.1.0"}, {"replicas", 2}, {"ready", 2}}},
             {"options", {{"scaleUp", "auto"}}},
             {"nodes", Json::array()},
             {"pods", Json::array()},
             {"workloads", Json::array()}}) {}

FleetDocument& FleetDocument::pool(const PoolDocument& pool) {
  for (int host = 0; host < pool.hosts; ++host) {
    if (contains(pool.missing, host)) continue;
    const std::string name = fmt::format("{}-{}", pool.name, host);
    const bool ready = !contains(pool.not_ready, host);
    const Timestamp since = now() - (ready ? std::chrono::hours(24) : std::chrono::hours(6));
    Json node = {
        {"apiVersion", "v1"},
        {"kind", "Node"},
        {"metadata",
         {{"name", name},
          {"uid", "uid-" + name},
          {"resourceVersion", "1"},
          {"labels",
           {{text(tpu::kAcceleratorLabel), pool.accelerator},
            {text(tpu::kTopologyLabel), pool.topology},
            {text(tpu::kNodePoolLabel), pool.name},
            {text(tpu::kZoneLabel), "us-east5-a"}}}}},
        {"spec",
         {{"taints", Json::array({Json{{"key", "google.com/tpu"}, {"value", "present"}, {"effect", "NoSchedule"}}})}}},
        {"status",
         {{"allocatable", {{"google.com/tpu", "4"}, {"cpu", "180"}, {"memory", "720Gi"}}},
          {"conditions", ready_condition(ready, since)}}}};
    if (contains(pool.cordoned, host)) node["spec"]["unschedulable"] = true;
    if (pool.spot) node["metadata"]["labels"]["cloud.google.com/gke-spot"] = "true";
    if (pool.maintenance) {
      node["metadata"]["labels"]["cloud.google.com/scheduled-maintenance-time"] =
          std::to_string(now().time_since_epoch() / std::chrono::seconds(1) + 3600);
    }
    json_["nodes"].push_back(std::move(node));
  }
  return *this;
}

FleetDocument& FleetDocument::slice(const SliceDocument& slice) {
  std::vector<Json> pods;
  for (int host = 0; host < slice.hosts; ++host) pods.push_back(make_host(slice, host));
  const std::string members = members_of(pods);
  for (int host = 0; host < slice.hosts; ++host) {
    Json& pod = pods[static_cast<std::size_t>(host)];
    if (!slice.pool.empty()) run(slice, host, members, pod);
    if (slice.terminating) pod["metadata"]["deletionTimestamp"] = format_rfc3339(now() + std::chrono::seconds(10));
    json_["pods"].push_back(std::move(pod));
  }
  return *this;
}

FleetDocument& FleetDocument::workload(const std::string& kind, const std::string& name, const std::string& owner_kind,
                                       const std::string& owner, const std::string& namespace_name) {
  json_["workloads"].push_back({{"apiVersion", "ray.io/v1"},
                                {"kind", kind},
                                {"metadata",
                                 {{"name", name},
                                  {"namespace", namespace_name},
                                  {"uid", "uid-" + name},
                                  {"ownerReferences", Json::array({Json{{"apiVersion", "ray.io/v1"},
                                                                        {"kind", owner_kind},
                                                                        {"name", owner},
                                                                        {"uid", "u"},
                                                                        {"controller", true}}})}}}});
  return *this;
}

FleetDocument& FleetDocument::set(const std::string& member, Json value) {
  json_[member] = std::move(value);
  return *this;
}

FleetDocument& FleetDocument::option(const std::string& member, Json value) {
  json_["options"][member] = std::move(value);
  return *this;
}

FleetDocument& FleetDocument::history(Json record) {
  json_["history"].push_back(std::move(record));
  return *this;
}

}  // namespace tpuslice::testing
