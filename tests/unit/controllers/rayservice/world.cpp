#include "tests/unit/controllers/rayservice/world.h"

#include <algorithm>
#include <utility>

#include "api/types/conditions.h"
#include "api/types/patch.h"
#include "controllers/plan/waiting_conditions.h"
#include "controllers/raycluster/pod_builder.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/rayservice_plan.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "controllers/rayservice/rules/spec.h"
#include "tests/unit/controllers/raycluster/fixtures.h"
#include "tpu/labels.h"

namespace tpuslice::rayservice {
namespace {

bool is_terminating(const Json& object) { return object["metadata"].contains("deletionTimestamp"); }

Json with_config(Json config) {
  config["headGroupSpec"]["template"]["spec"]["containers"][0]["ports"] =
      Json::array({{{"name", "serve"}, {"containerPort", 8000}}, {{"name", "dashboard"}, {"containerPort", 8265}}});
  return {
      {"apiVersion", "ray.io/v1"},
      {"kind", "RayService"},
      {"metadata",
       {{"name", "llm"}, {"namespace", "default"}, {"uid", "uid-llm"}, {"resourceVersion", "1"}, {"generation", 1}}},
      {"spec", {{"rayClusterConfig", std::move(config)}, {"serveConfigV2", a_serve_config("app")}}}};
}

ObjectPtr view_of(const Json& object) {
  return std::make_shared<const ObjectView>(ObjectView::from_json(object).value());
}

}  // namespace

std::string a_serve_config(const std::string& application) {
  return fmt::format("applications:\n- name: {}\n  route_prefix: /\n  import_path: serve:app\n", application);
}

Json a_service() {
  return with_config(
      raycluster::a_cluster("ignored", {{.name = "cpu", .replicas = 1, .hosts = 1, .accelerator = ""}})["spec"]);
}

Json a_multi_host_service() { return with_config(raycluster::a_cluster("ignored", {{.name = "tpu"}})["spec"]); }

World::World(Json service) : service_(std::move(service)), now_(raycluster::a_time()) {}

RayServiceObserved World::observed() const {
  RayServiceObserved seen{Object(service_), {}, {}, {}, {}, now_, std::nullopt};
  const std::string uid = seen.service.uid();
  for (const auto& [name, cluster] : clusters_) {
    const auto owner = Object(cluster).controller();
    if (owner && owner->uid == uid) seen.clusters.push_back(view_of(cluster));
  }
  for (const auto& [name, pod] : pods_) {
    const PodPtr view = raycluster::share(raycluster::decode_pod(pod));
    const bool ours = std::ranges::any_of(seen.clusters, [&](const ObjectPtr& cluster) {
      return view->controller && view->controller->uid == cluster->uid;
    });
    if (ours) seen.pods.push_back(view);
  }
  for (const auto& [name, each] : services_) seen.services.push_back(view_of(each));
  std::vector<std::shared_ptr<const plan::WorkloadAnswer>> answers;
  for (const auto& [name, answer] : answers_) answers.push_back(answer);
  seen.answers = plan::WorkloadAnswers(std::move(answers));
  return seen;
}

plan::Plan World::plan() const {
  Result<plan::Plan> plan = plan_rayservice(observed(), options);
  TPUSLICE_CHECK_MSG(plan.ok(), plan.ok() ? "" : plan.error().message());
  return *std::move(plan);
}

plan::Plan World::reconcile() {
  plan::Plan out = plan();
  for (const plan::Stage& stage : out.stages) {
    for (const plan::Action& action : stage.actions) apply(action);
  }
  if (out.status) apply(*out.status);
  set_requests(out.requests);
  return out;
}

int World::settle(int limit) {
  for (int round = 1; round <= limit; ++round) {
    const bool empty = reconcile().empty();
    const std::size_t before = clusters_.size() + services_.size() + pods_.size();
    advance();
    if (empty && before == clusters_.size() + services_.size() + pods_.size() && plan().empty()) return round;
  }
  return limit + 1;
}

void World::add_service(Json service) {
  const std::string name = string_at(service, {"metadata", "name"});
  service["metadata"]["uid"] = fmt::format("uid-{}", next_uid_++);
  service["metadata"]["resourceVersion"] = "1";
  services_[name] = std::move(service);
}

void World::add_cluster(Json cluster) {
  const std::string name = string_at(cluster, {"metadata", "name"});
  cluster["metadata"]["uid"] = fmt::format("uid-{}", next_uid_++);
  cluster["metadata"]["resourceVersion"] = "1";
  cluster["metadata"]["creationTimestamp"] = format_rfc3339(now_);
  ray_.erase(name);
  clusters_[name] = std::move(cluster);
}

void World::apply(const plan::Action& action) {
  ++writes_;
  if (action.type == kRayServices) {
    const plan::Preconditions& needed = action.preconditions;
    if (needed.resource_version != Object(service_).resource_version()) return;
    service_ = apply_merge_patch(service_, action.body.make().value());
    service_["metadata"]["resourceVersion"] = fmt::format("{}", ++version_);
    return;
  }
  auto& objects = action.type == kPods ? pods_ : action.type == kServices ? services_ : clusters_;
  const auto found = objects.find(action.key.name);
  if (action.kind == plan::ActionKind::kCreate) {
    if (found != objects.end()) return;
    Json body = action.body.make().value();
    return action.type == kServices ? add_service(std::move(body)) : add_cluster(std::move(body));
  }
  if (found == objects.end() || string_at(found->second, {"metadata", "uid"}) != action.preconditions.uid) return;
  const std::string& version = action.preconditions.resource_version;
  if (!version.empty() && version != string_at(found->second, {"metadata", "resourceVersion"})) return;
  if (action.kind == plan::ActionKind::kPatch) {
    found->second = apply_merge_patch(found->second, action.body.make().value());
    found->second["metadata"]["resourceVersion"] = fmt::format("{}", ++version_);
  } else {
    found->second["metadata"]["deletionTimestamp"] = format_rfc3339(now_);
  }
}

void World::apply(const plan::StatusPatch& status) {
  ++writes_;
  service_["status"] = status.status;
  service_["metadata"]["resourceVersion"] = fmt::format("{}", ++version_);
}

void World::set_requests(std::vector<plan::WorkloadRequest> requests) {
  requests_ = std::move(requests);
  std::erase_if(answers_, [&](const auto& answer) {
    return std::ranges::find(requests_, answer.first, &plan::WorkloadRequest::name) == requests_.end();
  });
}

void World::add_pod(Json pod) {
  const std::size_t number = next_uid_++;
  pod["metadata"]["uid"] = fmt::format("uid-{}", number);
  pod["metadata"]["resourceVersion"] = "1";
  pod["status"] = {{"phase", "Running"},
                   {"podIP", fmt::format("10.0.0.{}", number)},
                   {"conditions", Json::array({{{"type", "Ready"}, {"status", "True"}}})}};
  const std::string name = string_at(pod, {"metadata", "name"});
  pods_[name] = std::move(pod);
}

/// As the RayCluster controller and the kubelets do. The pods of an earlier spec stay.
void World::start_pods(const std::string& name, Json& cluster) {
  const raycluster::RayClusterSpec spec = raycluster::RayClusterSpec::read(cluster);
  Json conditions = array_at(cluster, {"status", "conditions"});
  const bool waits = !places_slices && pod_of(name, "head").empty();
  set_condition(conditions,
                {std::string(tpu::kSlicesPlaced), waits ? "False" : "True", waits ? "SlicesWaiting" : "SlicesPlaced",
                 waits ? "no free nodes" : "", std::nullopt},
                now_);
  cluster["status"]["conditions"] = std::move(conditions);
  if (spec.suspend || waits) return;
  if (pod_of(name, "head").empty()) add_pod(raycluster::build_head_pod(spec, {}).value().json());
  for (const raycluster::WorkerGroup& group : spec.groups) {
    for (int replica = 0; replica < group.desired_replicas(); ++replica) {
      for (int host = 0; host < group.hosts; ++host) {
        Json pod = raycluster::build_worker_pod(spec, group, {replica, host}, {}).value().json();
        if (!pods_.contains(string_at(pod, {"metadata", "name"}))) add_pod(std::move(pod));
      }
    }
  }
  cluster["status"]["state"] = "ready";
}

void World::remove_terminating() {
  std::erase_if(clusters_, [](const auto& each) { return is_terminating(each.second); });
  std::erase_if(services_, [](const auto& each) { return is_terminating(each.second); });
  std::erase_if(pods_, [&](const auto& pod) {
    const auto owner = Object(pod.second).controller();
    return is_terminating(pod.second) || std::ranges::none_of(clusters_, [&](const auto& cluster) {
             return owner && owner->uid == string_at(cluster.second, {"metadata", "uid"});
           });
  });
}

void World::advance() {
  now_ += std::chrono::seconds(5);
  remove_terminating();
  if (gone()) {
    clusters_.clear();
    services_.clear();
    pods_.clear();
  }
  for (auto& [name, cluster] : clusters_) start_pods(name, cluster);
  for (const plan::WorkloadRequest& request : requests_) {
    const auto known = answers_.find(request.name);
    const bool once = request.interval == Duration::zero();
    if (once && known != answers_.end() && known->second->request == request) continue;
    answers_[request.name] = std::make_shared<const plan::WorkloadAnswer>(answer(request));
  }
}

Json World::applications_of(const std::string& cluster) const {
  const auto found = ray_.find(cluster);
  Json applications = Json::object();
  Json proxies = Json::object();
  if (found != ray_.end()) {
    for (const Json& each : array_at(found->second.config, {"applications"})) {
      const std::string name = string_at(each, {"name"});
      const auto status = found->second.statuses.find(name);
      applications[name] = {{"status", status == found->second.statuses.end() ? "RUNNING" : status->second},
                            {"deployed_app_config", each},
                            {"deployments", {{"model", {{"status", "HEALTHY"}}}}}};
      if (found->second.adds_members) applications[name]["deployed_app_config"]["added"] = true;
    }
    for (const std::string& name : found->second.proxies) {
      const auto pod = pods_.find(name);
      if (pod == pods_.end()) continue;
      proxies[name] = {{"node_ip", string_at(pod->second, {"status", "podIP"})}, {"status", "HEALTHY"}};
    }
  }
  return {{"applications", std::move(applications)}, {"proxies", std::move(proxies)}};
}

plan::WorkloadAnswer World::answer(const plan::WorkloadRequest& request) {
  const std::string cluster = request.name.substr(request.name.find('/') + 1);
  Ray& ray = ray_[cluster];
  plan::WorkloadAnswer out{request};
  out.received = now_;
  out.status = ray.answer_status;
  if (request.method == "PUT") {
    if (out.status == 200) out.status = ray.put_status;
    ++ray.puts;
    sent_.push_back(fmt::format("{} {}", request.name, request.attempt));
    // Without an answer the request may have taken effect.
    if (out.status == 0 || out.status == 200) ray.config = Json::parse(request.body);
  }
  if (request.name.starts_with("proxy/")) out.status = ray.config.is_null() || ray.answer_status == 0 ? 0 : 200;
  if (out.status == 0) {
    out.error = fmt::format("{} {}: no answer in time", request.method, request.target);
  } else if (request.read != nullptr) {
    out.content = request.read(out.status, request.method == "GET" ? applications_of(cluster).dump() : "");
  }
  return out;
}

void World::heal_ray() {
  for (auto& [name, ray] : ray_) {
    ray.answer_status = 200;
    ray.put_status = 200;
    ray.statuses.clear();
  }
}

void World::delete_service() { service_["metadata"]["deletionTimestamp"] = format_rfc3339(now_); }

bool World::gone() const { return is_terminating(service_) && array_at(service_, {"metadata", "finalizers"}).empty(); }

std::string World::active() const { return string_at(service_, {"status", "activeServiceStatus", "rayClusterName"}); }
std::string World::pending() const { return string_at(service_, {"status", "pendingServiceStatus", "rayClusterName"}); }

std::string World::condition(std::string_view type) const {
  const Json* found = find_condition(array_at(service_, {"status", "conditions"}), type);
  return found == nullptr ? "" : fmt::format("{}: {}", string_at(*found, {"status"}), string_at(*found, {"reason"}));
}

std::string World::selected(const std::string& service) const {
  const auto found = services_.find(service);
  return found == services_.end() ? "" : string_at(found->second, {"spec", "selector", raycluster::kRayCluster});
}

std::string World::pod_of(const std::string& cluster, const std::string& which) const {
  for (const auto& [name, pod] : pods_) {
    const auto label = [&pod = pod](std::string_view key) { return string_at(pod, {"metadata", "labels", key}); };
    if (label(raycluster::kRayCluster) != cluster) continue;
    const std::string worker =
        fmt::format("{}-{}", label(raycluster::kRayReplicaIndex), label(raycluster::kRayHostIndex));
    if ((label(raycluster::kRayNodeType) == raycluster::kHeadNode ? "head" : worker) == which) return name;
  }
  return {};
}

}  // namespace tpuslice::rayservice
