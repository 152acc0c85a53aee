#include "tests/support/rayservice/world.h"

#include <algorithm>
#include <utility>

#include "api/types/conditions.h"
#include "api/types/patch.h"
#include "controllers/plan/waiting_conditions.h"
#include "controllers/raycluster/pods/pod_builder.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/rayservice_plan.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "controllers/rayservice/rules/spec.h"
#include "tests/support/raycluster/fixtures.h"

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

}  // namespace

std::string a_serve_config(const std::string& application) {
  return fmt::format("applications:\n- name: {}\n  route_prefix: /\n  import_path: serve:app\n", application);
}

Json a_service() {
  return with_config(
      raycluster::a_cluster("ignored", {{.name = "cpu", .replicas = 1, .hosts = 1, .accelerator = ""}})["spec"]);
}

Json an_incremental_service(int max_surge, int step_size, int interval_seconds) {
  Json service = a_service();
  service["spec"]["rayClusterConfig"]["enableInTreeAutoscaling"] = true;
  service["spec"]["upgradeStrategy"] = {{"type", kIncrementalUpgrade},
                                        {"clusterUpgradeOptions",
                                         {{"gatewayClassName", "istio"},
                                          {"maxSurgePercent", max_surge},
                                          {"stepSizePercent", step_size},
                                          {"intervalSeconds", interval_seconds}}}};
  return service;
}

Json a_multi_host_service() { return with_config(raycluster::a_cluster("ignored", {{.name = "tpu"}})["spec"]); }

World::World(Json service) : PlanWorld(kRayServices, std::move(service), raycluster::a_time()) {}

RayServiceObserved World::observed() const {
  RayServiceObserved seen{object(), {}, {}, {}, {}, now_, last_failure_};
  const std::string uid = seen.service.uid();
  for (const auto& [name, cluster] : objects(raycluster::kRayClusters)) {
    const auto owner = Object(cluster).controller();
    if (owner && owner->uid == uid) seen.clusters.push_back(plan::view_of<ObjectView>(cluster));
  }
  for (const auto& [name, pod] : objects(kPods)) {
    const PodPtr view = raycluster::share(raycluster::decode_pod(pod));
    const bool ours = std::ranges::any_of(seen.clusters, [&](const ObjectPtr& cluster) {
      return view->controller && view->controller->uid == cluster->uid;
    });
    if (ours) seen.pods.push_back(view);
  }
  seen.services = views<ObjectView>(kServices);
  seen.gateways.watched = serves_gateways;
  seen.gateways.absent = !serves_gateways;
  const auto find = [&](const ResourceType& type, const std::string& name) -> ObjectPtr {
    const auto found = objects(type).find(name);
    return found == objects(type).end() ? nullptr : plan::view_of<ObjectView>(found->second);
  };
  seen.gateways.gateway = find(kGateways, gateway_name(seen.service.spec()));
  seen.gateways.http_route = find(kHttpRoutes, http_route_name(seen.service.spec()));
  std::vector<std::shared_ptr<const plan::WorkloadAnswer>> answers;
  for (const auto& [name, answer] : answers_) answers.push_back(answer);
  seen.answers = plan::WorkloadAnswers(std::move(answers));
  return seen;
}

plan::Plan World::plan() const { return plan_rayservice(observed(), options); }

void World::prepare(const ResourceType& type, Json& created) {
  if (type != raycluster::kRayClusters) return;
  created["metadata"]["creationTimestamp"] = format_rfc3339(now_);
  ray_.erase(string_at(created, {"metadata", "name"}));
}

void World::add_cluster(Json cluster) {
  prepare(raycluster::kRayClusters, cluster);
  add(raycluster::kRayClusters, std::move(cluster));
}

void World::carried_out(const plan::Plan& plan, bool complete) {
  if (!complete) return;
  requests_ = plan.requests;
  std::erase_if(answers_, [&](const auto& answer) {
    return std::ranges::find(requests_, answer.first, &plan::WorkloadRequest::name) == requests_.end();
  });
}

void World::add_pod(Json pod) {
  Json& added = add(kPods, std::move(pod));
  const std::string number = string_at(added, {"metadata", "uid"}).substr(std::string_view("uid-").size());
  added["status"] = {{"phase", "Running"},
                     {"podIP", "10.0.0." + number},
                     {"conditions", Json::array({{{"type", "Ready"}, {"status", "True"}}})}};
}

/// As the RayCluster controller and the kubelets do. The pods of an earlier spec stay, unless the cluster is suspended.
void World::start_pods(const std::string& name, Json& cluster) {
  const raycluster::RayClusterSpec spec = raycluster::RayClusterSpec::read(cluster);
  Json conditions = array_at(cluster, {"status", "conditions"});
  const bool waits = !places_slices && pod_of(name, "head").empty();
  set_condition(conditions,
                {std::string(plan::kSlicesPlaced), waits ? "False" : "True", waits ? "NodesInUse" : "SlicesPlaced",
                 waits ? "no free nodes" : "", std::nullopt},
                now_);
  cluster["status"]["conditions"] = std::move(conditions);
  if (spec.suspend) {
    std::erase_if(pods(), [&](const auto& pod) {
      return string_at(pod.second, {"metadata", "labels", raycluster::kRayCluster}) == name;
    });
    cluster["status"]["state"] = "suspended";
    return;
  }
  if (waits) return;
  if (pod_of(name, "head").empty()) add_pod(raycluster::build_head_pod(spec, {}).value().json());
  for (const raycluster::WorkerGroup& group : spec.groups) {
    for (int replica = 0; replica < group.desired_replicas(); ++replica) {
      for (int host = 0; host < group.hosts; ++host) {
        Json pod = raycluster::build_worker_pod(spec, group, {replica, host}, {}).value().json();
        if (!pods().contains(string_at(pod, {"metadata", "name"}))) add_pod(std::move(pod));
      }
    }
  }
  cluster["status"]["state"] = "ready";
}

void World::remove_terminating() {
  std::erase_if(clusters(), [](const auto& each) { return is_terminating(each.second); });
  std::erase_if(services(), [&](const auto& each) {
    const auto owner = Object(each.second).controller();
    const bool of_cluster = owner && owner->kind == raycluster::kRayClusters.kind;
    return is_terminating(each.second) || (of_cluster && std::ranges::none_of(clusters(), [&](const auto& cluster) {
                                             return owner->uid == string_at(cluster.second, {"metadata", "uid"});
                                           }));
  });
  std::erase_if(gateways(), [](const auto& each) { return is_terminating(each.second); });
  std::erase_if(routes(), [](const auto& each) { return is_terminating(each.second); });
  std::erase_if(pods(), [&](const auto& pod) {
    const auto owner = Object(pod.second).controller();
    return is_terminating(pod.second) || std::ranges::none_of(clusters(), [&](const auto& cluster) {
             return owner && owner->uid == string_at(cluster.second, {"metadata", "uid"});
           });
  });
}

void World::accept_gateways() {
  if (!accepts_gateways) return;
  const auto conditions = [&](const char* first, const char* second) {
    Json out = Json::array();
    for (const char* type : {first, second}) out.push_back({{"type", type}, {"status", "True"}});
    return out;
  };
  const auto set_status = [&](Json& object, Json status) {
    if (object.value("status", Json()) == status) return;
    object["status"] = std::move(status);
    touch(object);
  };
  for (auto& [name, gateway] : gateways()) set_status(gateway, {{"conditions", conditions("Accepted", "Programmed")}});
  for (auto& [name, route] : routes()) {
    Json parents = Json::array();
    for (const Json& parent : array_at(route, {"spec", "parentRefs"})) {
      Json reported = conditions("Accepted", "ResolvedRefs");
      for (Json& each : reported) {
        if (route_generation) each["observedGeneration"] = *route_generation;
      }
      parents.push_back({{"parentRef", parent}, {"conditions", std::move(reported)}});
    }
    set_status(route, {{"parents", std::move(parents)}});
  }
}

std::map<std::string, int> World::weights() const {
  std::map<std::string, int> out;
  for (const auto& [name, route] : objects(kHttpRoutes)) {
    for (const Json& rule : array_at(route, {"spec", "rules"})) {
      for (const Json& backend : array_at(rule, {"backendRefs"})) {
        const std::string service = string_at(backend, {"name"});
        out[service.substr(0, service.rfind("-serve-svc"))] = static_cast<int>(int_at(backend, {"weight"}));
      }
    }
  }
  return out;
}

int World::capacity(const std::string& cluster) const {
  const auto found = ray_.find(cluster);
  if (found == ray_.end() || found->second.config.is_null()) return 0;
  return static_cast<int>(int_at(found->second.config, {"target_capacity"}, 100));
}

void World::advance() {
  now_ += std::chrono::seconds(5);
  remove_terminating();
  if (gone()) objects_.clear();
  for (auto& [name, cluster] : clusters()) start_pods(name, cluster);
  accept_gateways();
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
      const auto pod = objects(kPods).find(name);
      if (pod == objects(kPods).end()) continue;
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

void World::delete_service() { service()["metadata"]["deletionTimestamp"] = format_rfc3339(now_); }

std::string World::active() const {
  return string_at(object().json(), {"status", "activeServiceStatus", "rayClusterName"});
}
std::string World::pending() const {
  return string_at(object().json(), {"status", "pendingServiceStatus", "rayClusterName"});
}

std::string World::condition(std::string_view type) const {
  const Json* found = find_condition(array_at(object().json(), {"status", "conditions"}), type);
  return found == nullptr ? "" : fmt::format("{}: {}", string_at(*found, {"status"}), string_at(*found, {"reason"}));
}

std::string World::selected(const std::string& service) const {
  const auto found = objects(kServices).find(service);
  return found == objects(kServices).end() ? ""
                                           : string_at(found->second, {"spec", "selector", raycluster::kRayCluster});
}

std::string World::pod_of(const std::string& cluster, const std::string& which) const {
  for (const auto& [name, pod] : objects(kPods)) {
    const auto label = [&pod = pod](std::string_view key) { return string_at(pod, {"metadata", "labels", key}); };
    if (label(raycluster::kRayCluster) != cluster) continue;
    const std::string worker =
        fmt::format("{}-{}", label(raycluster::kRayReplicaIndex), label(raycluster::kRayHostIndex));
    if ((label(raycluster::kRayNodeType) == raycluster::kHeadNode ? "head" : worker) == which) return name;
  }
  return {};
}

}  // namespace tpuslice::rayservice
