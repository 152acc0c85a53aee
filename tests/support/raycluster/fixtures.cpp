#include "tests/support/raycluster/fixtures.h"

#include <algorithm>
#include <utility>

#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/children/services.h"
#include "controllers/raycluster/pods/pod_builder.h"

namespace tpuslice::raycluster {
namespace {

Json object(const char* name, const char* uid) {
  return {{"apiVersion", "ray.io/v1"},
          {"kind", "RayCluster"},
          {"metadata",
           {{"name", name}, {"namespace", "default"}, {"uid", uid}, {"resourceVersion", "1"}, {"generation", 1}}}};
}

Json with_uid(Json json) {
  json["metadata"]["uid"] = "uid-" + json["metadata"]["name"].get<std::string>();
  json["metadata"]["resourceVersion"] = "7";
  return json;
}

Json running(Json pod) {
  pod["metadata"]["creationTimestamp"] = "2025-12-31T23:59:00Z";
  pod["status"] = {{"phase", "Running"},
                   {"podIP", "10.0.0.9"},
                   {"conditions", Json::array({{{"type", "Ready"}, {"status", "True"}}})}};
  return with_uid(std::move(pod));
}

Object must(Result<Object> pod) {
  TPUSLICE_CHECK_MSG(pod.ok(), pod.ok() ? "" : pod.error().message());
  return *std::move(pod);
}

}  // namespace

Timestamp a_time() { return *parse_rfc3339("2026-01-01T00:00:00Z"); }

Json tutorial_cluster() {
  Json cluster = object("maxtext-tpu-cluster", "5a1e7b3c-0000-4000-8000-000000000001");
  const Json volumes = Json::parse(R"([
    {"name": "gcs-fuse-cache", "emptyDir": {"medium": "Memory"}},
    {"name": "dshm", "emptyDir": {"medium": "Memory"}},
    {"name": "gcs-fuse-csi-ephemeral", "csi": {"driver": "gcsfuse.csi.storage.gke.io",
     "volumeAttributes": {"bucketName": "bucket", "mountOptions": "implicit-dirs"}}}])");
  const Json mounts = Json::parse(R"([{"name": "gcs-fuse-csi-ephemeral", "mountPath": "/data"},
                                      {"name": "dshm", "mountPath": "/dev/shm"}])");
  Json head = Json::parse(R"({"rayStartParams": {}, "template": {
    "metadata": {"annotations": {"gke-gcsfuse/volumes": "true", "gke-gcsfuse/cpu-limit": "0"}},
    "spec": {"serviceAccountName": "ray", "containers": [{"name": "ray-head", "image": "ray-maxtext:latest",
      "imagePullPolicy": "IfNotPresent", "ports": [{"containerPort": 6379, "name": "gcs-server"},
        {"containerPort": 8265, "name": "dashboard"}, {"containerPort": 10001, "name": "client"}],
      "resources": {"limits": {"memory": "16Gi"}, "requests": {"cpu": "8", "memory": "16Gi"}}}]}}})");
  Json group = Json::parse(R"({"replicas": 1, "numOfHosts": 4, "groupName": "tpu-group", "rayStartParams": {},
    "minReplicas": 0, "maxReplicas": 2147483647, "template": {
    "metadata": {"annotations": {"gke-gcsfuse/volumes": "true", "gke-gcsfuse/cpu-limit": "0"}},
    "spec": {"serviceAccountName": "ray", "containers": [{"name": "ray-worker", "image": "ray-maxtext:latest",
      "imagePullPolicy": "IfNotPresent",
      "resources": {"limits": {"memory": "200G", "google.com/tpu": "4"},
                    "requests": {"cpu": "8", "memory": "200G", "google.com/tpu": "4"}},
      "env": [{"name": "JAX_PLATFORMS", "value": "tpu"}, {"name": "ENABLE_PJRT_COMPATIBILITY", "value": "true"}]}],
    "nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
                     "cloud.google.com/gke-tpu-topology": "4x4"}}}})");
  for (Json* pod : {&head["template"]["spec"], &group["template"]["spec"]}) {
    (*pod)["volumes"] = volumes;
    (*pod)["containers"][0]["volumeMounts"] = mounts;
  }
  cluster["spec"] = {{"headGroupSpec", head}, {"workerGroupSpecs", Json::array({group})}};
  return cluster;
}

Json a_group(const GroupFixture& group) {
  Json out = {{"groupName", group.name}, {"replicas", group.replicas}, {"minReplicas", 0},
              {"maxReplicas", 100},      {"numOfHosts", group.hosts},  {"rayStartParams", Json::object()}};
  Json limits = {{"cpu", "1"}, {"memory", "2Gi"}};
  Json pod_spec = Json::object();
  if (!group.accelerator.empty()) {
    limits["google.com/tpu"] = std::to_string(group.chips);
    pod_spec["nodeSelector"] = {{"cloud.google.com/gke-tpu-accelerator", group.accelerator},
                                {"cloud.google.com/gke-tpu-topology", group.topology}};
  }
  pod_spec["containers"] =
      Json::array({{{"name", "ray-worker"}, {"image", "rayproject/ray:2.49.1"}, {"resources", {{"limits", limits}}}}});
  out["template"] = {{"spec", pod_spec}};
  return out;
}

Json a_cluster(const std::string& name, const std::vector<GroupFixture>& groups) {
  Json cluster = object(name.c_str(), ("uid-of-" + name).c_str());
  const Json head = {{"name", "ray-head"},
                     {"image", "rayproject/ray:2.49.1"},
                     {"resources", {{"limits", {{"cpu", "2"}, {"memory", "4Gi"}}}}}};
  cluster["spec"]["headGroupSpec"] = {{"rayStartParams", Json::object()},
                                      {"template", {{"spec", {{"containers", Json::array({head})}}}}}};
  Json& specs = cluster["spec"]["workerGroupSpecs"] = Json::array();
  for (const GroupFixture& group : groups) specs.push_back(a_group(group));
  return cluster;
}

PodView decode_pod(const Json& pod) {
  Result<PodView> view = PodView::decode(pod.dump());
  TPUSLICE_CHECK_MSG(view.ok(), view.ok() ? "" : view.error().message());
  return *std::move(view);
}

ObjectView decode_object(const Json& json) {
  Result<ObjectView> view = ObjectView::decode(json.dump());
  TPUSLICE_CHECK_MSG(view.ok(), view.ok() ? "" : view.error().message());
  return *std::move(view);
}

PodView a_head(const Object& cluster) {
  return decode_pod(running(must(build_head_pod(RayClusterSpec::read(cluster), {})).json()));
}

PodView a_worker(const Object& cluster, const std::string& group, int replica, int host) {
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  const WorkerGroup* found = spec.group(group);
  TPUSLICE_CHECK_MSG(found != nullptr, group);
  return decode_pod(running(must(build_worker_pod(spec, *found, {replica, host}, {})).json()));
}

RayClusterObserved nothing_yet(const Object& cluster) { return {cluster, {}, {}, a_time(), std::nullopt}; }

RayClusterObserved all_running(const Object& cluster) {
  RayClusterObserved seen = nothing_yet(cluster);
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  seen.pods.push_back(share(a_head(cluster)));
  for (const WorkerGroup& group : spec.groups) {
    for (int replica = 0; replica < group.desired_replicas(); ++replica) {
      for (int host = 0; host < group.hosts; ++host) {
        seen.pods.push_back(share(a_worker(cluster, group.name, replica, host)));
      }
    }
  }
  std::vector<Json> services{build_head_service(spec, {}).json()};
  if (needs_headless_service(spec)) services.push_back(build_headless_service(spec).json());
  if (spec.serve_service) services.push_back(build_serve_service(spec).json());
  for (Json& service : services) {
    for (Json& port : service["spec"]["ports"]) port["targetPort"] = port["port"];
    seen.services.push_back(std::make_shared<const ObjectView>(decode_object(with_uid(service))));
  }
  for (const Object& child : desired_children(spec)) {
    const auto type =
        std::ranges::find(kChildTypes, child.kind(), [](const ChildType& known) { return known.type.kind; });
    seen.children.objects.push_back(
        {type->type, std::make_shared<const ObjectView>(decode_object(with_uid(child.json())))});
  }
  return seen;
}

std::shared_ptr<const PodView> share(PodView pod) { return std::make_shared<const PodView>(std::move(pod)); }

}  // namespace tpuslice::raycluster
