#include "tests/support/raycluster/world.h"

#include <set>
#include <utility>

#include "api/base/check.h"
#include "controllers/raycluster/adoption.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/observed_pods.h"
#include "controllers/raycluster/raycluster_plan.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tests/support/raycluster/fixtures.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

std::string label(const Json& pod, std::string_view name) { return string_at(pod, {"metadata", "labels", name}); }

bool terminating(const Json& pod) { return pod["metadata"].contains("deletionTimestamp"); }

bool gated(const Json& pod) { return pod["spec"].contains("schedulingGates"); }

}  // namespace

std::string slice_of(const Json& pod) {
  const std::string replica = label(pod, kRayReplicaIndex);
  if (label(pod, kRayNodeType) != "worker" || replica.empty()) return {};
  return label(pod, kRayGroup) + "/" + replica;
}

std::string host_of(const Json& pod) {
  const std::string slice = slice_of(pod);
  if (slice.empty()) return {};
  const std::string host = label(pod, kRayHostIndex);
  return slice + "/" + (host.empty() ? "0" : host);
}

World::World(Json cluster, Options options)
    : PlanWorld(kRayClusters, std::move(cluster), a_time()), options_(std::move(options)) {}

RayClusterObserved World::observed() const {
  RayClusterObserved seen{cluster(), {}, {}, now_, last_failure_};
  for (const auto& [name, pod] : pods()) {
    std::shared_ptr<const PodView>& view = views_[name];
    const Json& metadata = pod["metadata"];
    const bool current = view != nullptr && view->uid == string_at(metadata, {"uid"}) &&
                         view->resource_version == string_at(metadata, {"resourceVersion"});
    if (!current) view = share(decode_pod(pod));
    const bool child = view->controller && view->controller->uid == cluster().uid();
    if (child || cluster_of_orphan(*view) == cluster().key()) seen.pods.push_back(view);
  }
  seen.services = views<ObjectView>(kServices);
  for (const ChildType& child : kChildTypes) {
    for (auto& view : views<ObjectView>(child.type)) seen.children.objects.push_back({child.type, std::move(view)});
  }
  for (const auto& view : views<JobView>(kJobs)) seen.cleanup_job = view;
  return seen;
}

plan::Plan World::plan() const { return plan_raycluster(observed(), options_); }

std::string World::attempt_of(const std::string& pod) const {
  const std::string slice = slice_of(pods().at(pod));
  if (slice.empty()) return {};
  const auto index = parse_worker_pod_name(RayClusterSpec::read(cluster()), slice.substr(0, slice.rfind('/')), pod);
  return fmt::format("{}/{}", slice, index ? index->attempt : 0);
}

void World::add_child(Json child) {
  const std::string kind = string_at(child, {"kind"});
  const auto* const found = std::ranges::find(kChildTypes, kind, [](const ChildType& each) { return each.type.kind; });
  TPUSLICE_CHECK_MSG(found != kChildTypes.end(), kind);
  add(found->type, std::move(child));
}

bool World::is_foreign(const Json& pod) const {
  const std::string owner = string_at(pod, {"metadata", "ownerReferences", "0", "uid"});
  return !owner.empty() && owner != cluster().uid();
}

void World::check_host(const Json& pod) {
  const std::string host = host_of(pod);
  const bool has_peers = !label(pod, kRayHostIndex).empty();
  if (host.empty() || !has_peers || gated(pod)) return;
  for (const auto& [name, other] : pods()) {
    if (is_foreign(other)) continue;
    const std::string created = string_at(pod, {"metadata", "name"});
    if (host_of(other) == host) violations_.push_back(fmt::format("{} created beside {} for {}", created, name, host));
    if (slice_of(other) == slice_of(pod) && string_at(other, {"status", "phase"}) != "Pending") {
      violations_.push_back(fmt::format("{} created in a slice in which {} is running", created, name));
    }
  }
}

void World::prepare(const ResourceType& type, Json& created) {
  if (type == kJobs && !by_type(observed().pods).heads.empty()) {
    violations_.push_back("Redis is cleaned while a head exists");
  }
  if (type != kPods) return;
  check_host(created);
  created["metadata"]["creationTimestamp"] = format_rfc3339(now_);
  created["status"] = {{"phase", "Pending"}};
}

void World::delete_cluster() { cluster().mutable_json()["metadata"]["deletionTimestamp"] = format_rfc3339(now_); }

void World::advance() {
  now_ += std::chrono::seconds(10);
  for (auto& [name, job] : objects(kJobs)) {
    job["status"]["conditions"] = Json::array({{{"type", "Complete"}, {"status", "True"}}});
  }
  if (gone()) objects_.clear();
  std::map<std::string, std::set<std::string>> attempts;
  for (const auto& [name, pod] : pods()) {
    if (!is_foreign(pod)) attempts[slice_of(pod)].insert(attempt_of(name));
  }
  std::erase_if(objects(kPods), [](const auto& pod) { return terminating(pod.second); });
  for (auto& [name, pod] : objects(kPods)) {
    if (gated(pod)) {
      if (attempts[slice_of(pod)].size() > 1) continue;
      pod["spec"].erase("schedulingGates");
      touch(pod);
      continue;
    }
    Json& status = pod["status"];
    const std::string phase = string_at(status, {"phase"});
    if (phase == "Pending" || (phase == "Running" && !status.contains("conditions"))) {
      status["phase"] = "Running";
      status["conditions"] = Json::array({{{"type", "Ready"}, {"status", "True"}}});
      touch(pod);
    }
  }
}

std::vector<std::string> World::children() const {
  std::vector<std::string> out;
  for (const auto& [kind, objects] : objects_) {
    for (const auto& [name, object] : objects) {
      if (kind != kPods.kind || !terminating(object)) out.push_back(kind + " " + name);
    }
  }
  return out;
}

}  // namespace tpuslice::raycluster
