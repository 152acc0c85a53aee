#include "tests/laws/fleet_generator.h"

#include <chrono>
#include <map>
#include <memory>

#include "api/types/views.h"
#include "controllers/slice/slice.h"
#include "tpu/labels.h"

namespace tpuslice::laws {
namespace {

using std::chrono::seconds;

std::string text(std::string_view name) { return std::string(name); }

Json condition(const char* type, bool is_true, const std::string& since) {
  return {{"type", type}, {"status", is_true ? "True" : "False"}, {"lastTransitionTime", since}};
}

/// The record of the hosts that were placed together.
std::string members_of(const Json& pods) {
  std::vector<slice::PodPtr> views;
  for (const Json& pod : pods) views.push_back(std::make_shared<const PodView>(*PodView::decode(pod.dump())));
  const auto by_slice = slice::group_by_slice(views);
  return slice::members_of(slice::read_slice(by_slice.begin()->first, by_slice.begin()->second));
}

}  // namespace

Timestamp FleetGenerator::now() { return *parse_rfc3339("2026-01-01T12:00:00Z"); }

std::string FleetGenerator::time_before_now(int max_seconds) {
  return format_rfc3339(now() - seconds(10 + dice_.below(max_seconds)));
}

void FleetGenerator::generate() {
  choose_options();
  const int pools = 1 + dice_.below(8);
  for (int i = 0; i < pools; ++i) add_pool(i);
  const int workloads = 1 + dice_.below(10);
  for (int i = 0; i < workloads; ++i) add_workload(i);
}

void FleetGenerator::choose_options() {
  options_.scale_up.namespace_name = "tpu-slice-system";
  using enum placement::ScaleUp;
  options_.scale_up.mode = dice_.chance(50) ? kOff : dice_.chance(50) ? kAuto : kScout;
  has_autoscaler_ = dice_.chance(30);
  options_.show_other_namespaces = dice_.chance(30);
  options_.reservation.percent = dice_.chance(30) ? 50 : 0;
  if (dice_.chance(20)) options_.reservation.timeout = Duration::zero();
  if (!dice_.chance(30)) return;
  options_.max_preemptions_per_hour = 1 + static_cast<std::size_t>(dice_.below(3));
  if (dice_.chance(20)) return;
  preemptions_ = {{"metadata",
                   {{"name", "tpu-slice-preemptions"},
                    {"namespace", "tpu-slice-system"},
                    {"uid", "uid-of-records"},
                    {"resourceVersion", "1"}}},
                  {"data", Json::object()}};
  if (dice_.chance(40)) preemptions_["data"]["tpu-v6e-slice"] = "1 2026-01-01T11:30:00Z";
}

void FleetGenerator::add_pool(int index) {
  static const std::vector<Shape> kShapes = {{"tpu-v6e-slice", "4x4", 4},
                                             {"tpu-v6e-slice", "4x4", 4},
                                             {"tpu-v6e-slice", "2x4", 2},
                                             {"tpu-v5-lite-podslice", "4x8", 8}};
  const Shape shape = kShapes.at(static_cast<std::size_t>(dice_.below(static_cast<int>(kShapes.size()))));
  const std::string name = "pool-" + std::to_string(index);
  pools_.push_back({name, shape});
  const std::string block = "block-" + std::to_string(dice_.below(2));
  for (int host = 0; host < shape.hosts; ++host) {
    if (dice_.chance(3)) continue;
    const std::string node_name = name + "-" + std::to_string(host);
    Json node = {
        {"apiVersion", "v1"},
        {"kind", "Node"},
        {"metadata",
         {{"name", node_name},
          {"uid", "uid-of-" + node_name},
          {"resourceVersion", "1"},
          {"labels",
           {{text(tpu::kAcceleratorLabel), shape.accelerator},
            {text(tpu::kTopologyLabel), shape.topology},
            {text(tpu::kNodePoolLabel), name},
            {text(tpu::kHostnameLabel), node_name},
            {text(tpu::kBlockLabel), block}}}}},
        {"spec",
         {{"taints", Json::array({{{"key", "google.com/tpu"}, {"value", "present"}, {"effect", "NoSchedule"}}})}}},
        {"status",
         {{"allocatable", {{"google.com/tpu", "4"}, {"cpu", "180"}, {"memory", "700Gi"}, {"example.com/nic", "8"}}},
          {"conditions", Json::array({condition("Ready", !dice_.chance(4), time_before_now(7200))})}}}};
    if (dice_.chance(3)) node["spec"]["unschedulable"] = true;
    if (dice_.chance(2)) node["status"]["allocatable"].erase("google.com/tpu");
    if (dice_.chance(3)) node["metadata"]["labels"]["cloud.google.com/gke-spot"] = "true";
    if (dice_.chance(2)) {
      node["metadata"]["labels"]["cloud.google.com/scheduled-maintenance-time"] =
          std::to_string(now().time_since_epoch() / seconds(1) + 3600);
    }
    if (dice_.chance(2)) {
      node["spec"]["taints"].push_back({{"key", "team"}, {"value", "other"}, {"effect", "NoSchedule"}});
    }
    nodes_.push_back(std::move(node));
  }
}

FleetGenerator::Pool* FleetGenerator::free_pool(const Shape& shape) {
  for (Pool& pool : pools_) {
    if (!pool.taken && pool.shape.topology == shape.topology && dice_.chance(70)) return &pool;
  }
  return nullptr;
}

void FleetGenerator::add_workload(int index) {
  const std::string name = "work-" + std::to_string(index);
  const std::string space = "team-" + std::to_string(dice_.below(3));
  const Shape shape = pools_.at(static_cast<std::size_t>(dice_.below(static_cast<int>(pools_.size())))).shape;
  const int slices = dice_.chance(60) ? 1 : 1 + dice_.below(3);
  const bool runs = dice_.chance(45);
  for (int slice = 0; slice < slices; ++slice) {
    Pool* const pool = runs ? free_pool(shape) : nullptr;
    if (pool != nullptr) pool->taken = true;
    add_slice(name, space, shape, slice, slices, pool);
  }
}

Json FleetGenerator::make_pod(const std::string& name, const std::string& space, const Shape& shape) const {
  return {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", name}, {"namespace", space}, {"uid", "uid-of-" + space + "-" + name}, {"resourceVersion", "7"}}},
      {"spec",
       {{"containers",
         Json::array({{{"name", "main"},
                       {"image", "image"},
                       {"env", Json::array({{{"name", "SECRET"}, {"value", "x"}}})},
                       {"resources", {{"limits", {{"google.com/tpu", "4"}, {"example.com/nic", "9"}}}}}}})},
        {"tolerations", Json::array({{{"key", "google.com/tpu"}, {"operator", "Exists"}, {"effect", "NoSchedule"}}})},
        {"nodeSelector",
         {{text(tpu::kAcceleratorLabel), shape.accelerator}, {text(tpu::kTopologyLabel), shape.topology}}}}},
      {"status", {{"phase", "Pending"}}}};
}

void FleetGenerator::add_slice(const std::string& workload, const std::string& space, const Shape& shape, int slice,
                               int gang, Pool* pool) {
  const std::string key = workload + "-" + std::to_string(slice) + "-abcdefgh";
  const std::string created = time_before_now(20'000);
  const int priority = dice_.chance(25) ? 10 : 0;
  const bool has_deadline = dice_.chance(40);
  const bool inherits = dice_.chance(15);
  const std::string queued_since = time_before_now(30'000);
  const std::string gang_size = std::to_string(dice_.chance(5) ? gang + 1 : gang);
  Json members = Json::array();
  for (int host = 0; host < shape.hosts; ++host) {
    if (pool == nullptr && dice_.chance(2)) continue;
    Json pod = make_pod(workload + "-" + std::to_string(slice) + "-" + std::to_string(host), space, shape);
    Json& metadata = pod["metadata"];
    metadata["creationTimestamp"] = created;
    metadata["labels"][text(tpu::kSlice)] = key;
    metadata["ownerReferences"] = Json::array({{{"apiVersion", "batch/v1"},
                                                {"kind", "Job"},
                                                {"name", workload},
                                                {"uid", "uid-of-" + workload},
                                                {"controller", true}}});
    Json& annotations = metadata["annotations"];
    annotations[text(tpu::kSliceHosts)] = std::to_string(shape.hosts);
    annotations[text(tpu::kSliceHost)] = std::to_string(host);
    annotations[text(tpu::kTopologyKey)] = text(tpu::kNodePoolLabel);
    if (gang > 1) annotations[text(tpu::kSliceGang)] = workload;
    if (gang > 1) annotations[text(tpu::kGangSlices)] = gang_size;
    if (inherits) annotations[text(tpu::kQueuedSince)] = queued_since;
    pod["spec"]["priority"] = priority;
    if (has_deadline) pod["spec"]["activeDeadlineSeconds"] = 3600 * (1 + dice_.below(9));
    pod["spec"]["schedulingGates"] = Json::array({{{"name", text(tpu::kSliceGate)}}});
    if (dice_.chance(1)) pod["spec"]["schedulingGates"].push_back({{"name", "example.com/other"}});
    members.push_back(std::move(pod));
  }
  if (pool != nullptr) {
    const std::string record = members_of(members);
    const bool bound = dice_.chance(85);
    const std::string placed = time_before_now(10'000);
    for (std::size_t host = 0; host < members.size(); ++host) {
      Json& pod = members[host];
      pod["spec"].erase("schedulingGates");
      pod["metadata"]["annotations"][text(tpu::kSliceMembers)] = record;
      pod["metadata"]["annotations"][text(tpu::kPlacedAt)] = placed;
      pod["metadata"]["annotations"][text(tpu::kPlacedIn)] = pool->name;
      pod["spec"]["nodeSelector"][text(tpu::kNodePoolLabel)] = pool->name;
      if (bound) pod["spec"]["nodeName"] = pool->name + "-" + std::to_string(host);
      if (bound)
        pod["status"] = {{"phase", "Running"}, {"conditions", Json::array({condition("Ready", true, placed)})}};
      if (dice_.chance(1)) pod["status"]["phase"] = "Failed";
      if (dice_.chance(1)) pod["metadata"]["deletionTimestamp"] = format_rfc3339(now() + seconds(20));
    }
  } else if (dice_.chance(3) && !members.empty()) {
    members[0]["metadata"]["deletionTimestamp"] = format_rfc3339(now() + seconds(20));
  }
  for (Json& pod : members) pods_.push_back(std::move(pod));
}

}  // namespace tpuslice::laws
