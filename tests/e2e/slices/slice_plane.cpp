#include "tests/e2e/slices/slice_plane.h"

#include <ostream>

#include <fmt/format.h>

#include "api/types/yaml.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

constexpr ResourceType kRayClusterType{"ray.io", "v1", "RayCluster", "rayclusters"};
constexpr ResourceType kJobType{"batch", "v1", "Job", "jobs"};
constexpr const char* kNamespace = "default";

std::string pool_name(int pool) { return fmt::format("v6e-{:02}", pool); }

std::vector<sim::NodePool> pools_of_the_plane(int count, int hosts) {
  std::vector<sim::NodePool> pools;
  for (int pool = 0; pool < count; ++pool) {
    sim::NodePool tpu;
    tpu.name = pool_name(pool);
    tpu.accelerator = "tpu-v6e-slice";
    tpu.topology = "4x4";
    tpu.machine_type = "ct6e-standard-4t";
    tpu.hosts = hosts;
    tpu.chips_per_host = 4;
    pools.push_back(std::move(tpu));
  }
  sim::NodePool heads;
  heads.name = "cpu";
  heads.hosts = 3;
  pools.push_back(std::move(heads));
  return pools;
}

constexpr const char* kTpuTemplate = R"(
            nodeSelector: {{cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 4x4}}
            containers:
              - {{name: worker, image: example, resources: {{limits: {{cpu: "1", google.com/tpu: "4"}}}}}}
)";

}  // namespace

void PrintTo(const SliceCounts& counts, std::ostream* out) {
  *out << fmt::format("{} whole, {} half-placed, {} waiting", counts.whole, counts.partly, counts.waiting);
}

void SlicePlane::SetUpTestSuite() {
  ControlPlaneOptions options;
  options.pools = pools_of_the_plane(kPools, kHosts);
  options.crds = {"deploy/crds/ray.io_rayclusters.yaml", "deploy/crds/leaderworkerset.x-k8s.io_leaderworkersets.yaml"};
  plane_ = ControlPlane::start(std::move(options));
}

void SlicePlane::TearDownTestSuite() { plane_.reset(); }

void SlicePlane::SetUp() {
  if (!*plane_ && plane_->error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane_->error().message();
  ASSERT_TRUE(plane_->ok()) << plane_->error().message();
  const auto kubeconfig = install_operator(plane());
  ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
  const auto port = free_port();
  ASSERT_TRUE(port.ok() && register_webhook(client(), *port).ok());
  auto op = OperatorProcess::start(
      {.kubeconfig = *kubeconfig, .log = plane().dir() + "/operator.log", .webhook_port = *port});
  ASSERT_TRUE(op.ok()) << op.error().message();
  operator_ = std::move(*op);
}

void SlicePlane::TearDown() {
  if (operator_) {
    const auto forbidden = operator_->metric("rest_client_requests_total", {{"code", "403"}});
    EXPECT_EQ(forbidden.value_or(0), 0) << "the rights of deploy/rbac are not enough";
  }
  if (plane_->ok()) remove_all();
  if (operator_) {
    const Status stopped = operator_->stop();
    EXPECT_TRUE(stopped.ok()) << stopped.error().message();
  }
  operator_.reset();
  if (HasFailure() && plane_->ok()) {
    plane().keep_dir();
    fmt::print("logs: {}\n", plane().dir());
  }
}

void SlicePlane::remove_all() {
  for (const ResourceType& type : {kRayClusterType, kJobType}) {
    const auto list = client().list(type, {.namespace_name = kNamespace}, {});
    ASSERT_TRUE(list.ok()) << list.error().message();
    for (const std::string& text : list->items) remove(type, Object(Json::parse(text)).name());
  }
  cordon_in(kPools, false);
  EXPECT_TRUE(eventually([this] { return slices().empty(); })) << "pods are left";
}

void SlicePlane::create(const std::string& yaml) {
  const auto object = parse_yaml(yaml);
  ASSERT_TRUE(object.ok()) << object.error().message();
  const Object parsed(*object);
  const ResourceType type = parsed.kind() == "RayCluster" ? kRayClusterType
                            : parsed.kind() == "Job"      ? kJobType
                                                          : ResourceType{"", "v1", "Service", "services"};
  const auto created = client().create(type, parsed);
  ASSERT_TRUE(created.ok()) << created.error().message();
}

void SlicePlane::cordon_in(int pools, bool cordoned) {
  for (int pool = 0; pool < pools; ++pool) {
    const ObjectKey node{"", fmt::format("{}-1", pool_name(pool))};
    const auto patched =
        client().patch(kNodes, node, client::PatchType::kMerge, {{"spec", {{"unschedulable", cordoned}}}}, {});
    ASSERT_TRUE(patched.ok()) << patched.error().message();
  }
}

void SlicePlane::create_ray_cluster(const std::string& name, const std::string& annotations) {
  create(fmt::format(R"(
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: {}, namespace: {}}}
spec:
  headGroupSpec:
    rayStartParams: {{}}
    template: {{spec: {{containers: [{{name: head, image: example, resources: {{limits: {{cpu: "1", memory: 1Gi}}}}}}]}}}}
  workerGroupSpecs:
    - groupName: tpu
      replicas: 1
      numOfHosts: {}
      rayStartParams: {{}}
      template:
          metadata: {{annotations: {{{}}}}}
          spec:{})",
                     name, kNamespace, kHosts, annotations, fmt::format(kTpuTemplate)));
}

void SlicePlane::create_job(const std::string& name) {
  create(
      fmt::format("{{apiVersion: v1, kind: Service, metadata: {{name: {0}, namespace: {1}}}, spec: {{clusterIP: None, "
                  "selector: {{batch.kubernetes.io/job-name: {0}}}}}}}",
                  name, kNamespace));
  create(fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: {0}, namespace: {1}}}
spec:
  completions: {2}
  parallelism: {2}
  completionMode: Indexed
  backoffLimitPerIndex: 5
  template:
          spec:
            subdomain: {0}
            restartPolicy: Never{3})",
                     name, kNamespace, kHosts, fmt::format(kTpuTemplate)));
}

void SlicePlane::remove(const ResourceType& type, const std::string& name) {
  const Status removed = client().remove(type, {kNamespace, name});
  ASSERT_TRUE(removed.ok()) << removed.error().message();
}

void SlicePlane::evict(const std::string& pod) {
  const Json status = {{"phase", "Failed"}, {"reason", "Evicted"}};
  const auto patched = client().update_status(kPods, {kNamespace, pod}, status, {});
  ASSERT_TRUE(patched.ok()) << patched.error().message();
}

std::map<std::string, std::vector<Json>> SlicePlane::slices() {
  std::map<std::string, std::vector<Json>> found;
  const auto list =
      client().list(kPods, {.namespace_name = kNamespace, .label_selector = std::string(tpu::kSlice)}, {});
  if (!list) return found;
  for (const std::string& text : list->items) {
    Json pod = Json::parse(text);
    const std::string phase = string_at(pod, {"status", "phase"});
    if (phase == "Failed" || phase == "Succeeded") continue;
    found[string_at(pod, {"metadata", "labels", tpu::kSlice})].push_back(std::move(pod));
  }
  return found;
}

SliceCounts SlicePlane::count() {
  SliceCounts counts;
  for (const auto& [slice, pods] : slices()) {
    std::set<std::string> pools;
    int bound = 0;
    for (const Json& pod : pods) {
      const std::string node = string_at(pod, {"spec", "nodeName"});
      if (node.empty()) continue;
      ++bound;
      pools.insert(node.substr(0, node.rfind('-')));
    }
    if (bound == 0) {
      ++counts.waiting;
    } else if (bound == kHosts && pools.size() == 1) {
      ++counts.whole;
    } else {
      ++counts.partly;
    }
  }
  return counts;
}

std::string SlicePlane::notes_of(const std::string& reason) {
  std::string notes;
  const auto events = client().list({"events.k8s.io", "v1", "Event", "events"},
                                    {.namespace_name = "default", .field_selector = "reason=" + reason}, {});
  if (!events) return events.error().message();
  for (const std::string& text : events->items) notes += string_at(Json::parse(text), {"note"}) + "\n";
  return notes;
}

void SlicePlane::expect_counts(const std::string& what, const SliceCounts& counts, Duration within) {
  const Instant begun = clock_.now();
  SliceCounts found;
  const bool reached = eventually([&] { return (found = count()) == counts; }, within);
  const double seconds = std::chrono::duration<double>(clock_.now() - begun).count();
  fmt::print("{}: {} whole, {} half-placed, {} waiting after {:.1f} s\n", what, found.whole, found.partly,
             found.waiting, seconds);
  EXPECT_TRUE(reached) << what;
  EXPECT_EQ(found, counts) << what;
}

}  // namespace tpuslice::testing
