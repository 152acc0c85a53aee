#include "tests/unit/controllers/raycluster/world.h"

#include <set>
#include <utility>

#include "api/types/patch.h"
#include "controllers/raycluster/adoption.h"
#include "controllers/raycluster/children.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/pods.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tests/unit/controllers/raycluster/fixtures.h"
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
    : cluster_(std::move(cluster)), options_(std::move(options)), now_(a_time()) {}

RayClusterObserved World::observed() const {
  RayClusterObserved seen{cluster_, {}, {}, now_, std::nullopt};
  for (const auto& [name, pod] : pods_) {
    std::shared_ptr<const PodView>& view = views_[name];
    if (view == nullptr) view = share(decode_pod(pod));
    const bool child = view->controller && view->controller->uid == cluster_.uid();
    if (child || cluster_of_orphan(*view) == cluster_.key()) seen.pods.push_back(view);
  }
  for (const auto& [name, service] : services_) {
    seen.services.push_back(std::make_shared<const ObjectView>(decode_object(service)));
  }
  for (const ChildType& child : kChildTypes) {
    const auto found = others_.find(std::string(child.type.kind));
    if (found == others_.end()) continue;
    for (const auto& [name, object] : found->second) {
      seen.children.objects.push_back({child.type, std::make_shared<const ObjectView>(decode_object(object))});
    }
  }
  if (const auto jobs = others_.find("Job"); jobs != others_.end()) {
    for (const auto& [name, job] : jobs->second) {
      seen.cleanup_job = std::make_shared<const JobView>(JobView::from_json(job).value());
    }
  }
  return seen;
}

std::string World::attempt_of(const std::string& pod) const {
  const std::string slice = slice_of(pods_.at(pod));
  if (slice.empty()) return {};
  const auto index = parse_worker_pod_name(RayClusterSpec::read(cluster_), slice.substr(0, slice.rfind('/')), pod);
  return fmt::format("{}/{}", slice, index ? index->attempt : 0);
}

void World::add_pod(Json pod) {
  const std::string name = string_at(pod, {"metadata", "name"});
  pod["metadata"]["uid"] = fmt::format("uid-{}", next_uid_++);
  pod["metadata"]["resourceVersion"] = "1";
  views_.erase(name);
  pods_[name] = std::move(pod);
}

void World::add_service(Json service) {
  service["metadata"]["uid"] = fmt::format("uid-{}", next_uid_++);
  const std::string name = string_at(service, {"metadata", "name"});
  services_[name] = std::move(service);
}

void World::add_child(Json child) {
  child["metadata"]["uid"] = fmt::format("uid-{}", next_uid_++);
  const std::string name = string_at(child, {"metadata", "name"});
  auto& objects = others_[string_at(child, {"kind"})];
  objects[name] = std::move(child);
}

bool World::is_foreign(const Json& pod) const {
  const std::string owner = string_at(pod, {"metadata", "ownerReferences", "0", "uid"});
  return !owner.empty() && owner != cluster_.uid();
}

void World::check_host(const Json& pod) {
  const std::string host = host_of(pod);
  const bool has_peers = !label(pod, kRayHostIndex).empty();
  if (host.empty() || !has_peers || gated(pod)) return;
  for (const auto& [name, other] : pods_) {
    if (is_foreign(other)) continue;
    const std::string created = string_at(pod, {"metadata", "name"});
    if (host_of(other) == host) violations_.push_back(fmt::format("{} created beside {} for {}", created, name, host));
    if (slice_of(other) == slice_of(pod) && string_at(other, {"status", "phase"}) != "Pending") {
      violations_.push_back(fmt::format("{} created in a slice in which {} is running", created, name));
    }
  }
}

std::map<std::string, Json>& World::objects_of(const ResourceType& type) {
  if (type == kPods) return pods_;
  return type == kServices ? services_ : others_[std::string(type.kind)];
}

void World::create(const plan::Action& action) {
  auto& objects = objects_of(action.type);
  if (objects.contains(action.key.name)) return;
  Json body = action.body.make().value();
  if (action.type == kServices) return add_service(std::move(body));
  if (action.type != kPods) {
    const RayClusterObserved seen = observed();
    if (action.type == kJobs && !by_type(seen.pods).heads.empty()) {
      violations_.push_back("Redis is cleaned while a head exists");
    }
    return add_child(std::move(body));
  }
  check_host(body);
  body["metadata"]["creationTimestamp"] = format_rfc3339(now_);
  body["status"] = {{"phase", "Pending"}};
  add_pod(std::move(body));
}

void World::apply(const plan::Action& action) {
  ++writes_;
  if (action.kind == plan::ActionKind::kCreate) return create(action);
  if (action.type == kRayClusters) return patch_cluster(action);
  auto& objects = objects_of(action.type);
  const auto found = objects.find(action.key.name);
  if (found == objects.end() || string_at(found->second, {"metadata", "uid"}) != action.preconditions.uid) return;
  if (action.kind == plan::ActionKind::kPatch) {
    found->second = apply_merge_patch(found->second, action.body.make().value());
  } else {
    found->second["metadata"]["deletionTimestamp"] = format_rfc3339(now_);
  }
  views_.erase(action.key.name);
}

void World::patch_cluster(const plan::Action& action) {
  const plan::Preconditions& needed = action.preconditions;
  if (gone() || needed.uid != cluster_.uid()) return;
  if (!needed.resource_version.empty() && needed.resource_version != cluster_.resource_version()) return;
  if (!action.subresource.empty()) return;
  cluster_ = Object(apply_merge_patch(cluster_.json(), action.body.make().value()));
  cluster_.mutable_json()["metadata"]["resourceVersion"] = fmt::format("{}", ++version_);
}

void World::delete_cluster() { cluster_.mutable_json()["metadata"]["deletionTimestamp"] = format_rfc3339(now_); }

bool World::gone() const {
  return cluster_.deletion_timestamp() && array_at(cluster_.json(), {"metadata", "finalizers"}).empty();
}

void World::apply(const plan::StatusPatch& status) {
  ++writes_;
  cluster_.mutable_json()["status"] = status.status;
}

void World::advance() {
  now_ += std::chrono::seconds(10);
  for (auto& [name, job] : others_["Job"]) {
    job["status"]["conditions"] = Json::array({{{"type", "Complete"}, {"status", "True"}}});
  }
  if (gone()) {
    for (auto* objects : {&pods_, &services_}) objects->clear();
    others_.clear();
    views_.clear();
  }
  std::map<std::string, std::set<std::string>> attempts;
  for (const auto& [name, pod] : pods_) {
    if (!is_foreign(pod)) attempts[slice_of(pod)].insert(attempt_of(name));
  }
  for (auto pod = pods_.begin(); pod != pods_.end();) {
    if (!terminating(pod->second) && gated(pod->second)) {
      if (attempts[slice_of(pod->second)].size() <= 1) pod->second["spec"].erase("schedulingGates");
      views_.erase(pod->first);
      ++pod;
      continue;
    }
    if (terminating(pod->second)) {
      views_.erase(pod->first);
      pod = pods_.erase(pod);
      continue;
    }
    Json& status = pod->second["status"];
    const std::string phase = string_at(status, {"phase"});
    if (phase == "Pending" || (phase == "Running" && !status.contains("conditions"))) {
      status["phase"] = "Running";
      status["conditions"] = Json::array({{{"type", "Ready"}, {"status", "True"}}});
      views_.erase(pod->first);
    }
    ++pod;
  }
}

std::vector<std::string> World::children() const {
  std::vector<std::string> out;
  for (const auto& [name, pod] : pods_) {
    if (!terminating(pod)) out.push_back("pod " + name);
  }
  for (const auto& [name, service] : services_) out.push_back("service " + name);
  for (const auto& [kind, objects] : others_) {
    for (const auto& [name, object] : objects) out.push_back(kind + " " + name);
  }
  return out;
}

}  // namespace tpuslice::raycluster
