#include "tests/e2e/kueue/kueue_plane.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

void add_pools(std::vector<sim::NodePool>& pools, const std::string& topology, int count, int hosts) {
  for (int i = 0; i < count; ++i) {
    sim::NodePool pool;
    pool.name = fmt::format("p{}-{:02}", topology, i);
    pool.accelerator = "tpu-v6e-slice";
    pool.topology = topology;
    pool.machine_type = "ct6e-standard-4t";
    pool.hosts = hosts;
    pool.chips_per_host = 4;
    pools.push_back(std::move(pool));
  }
}

/// The host index that the container gets in TPU_WORKER_ID.
std::string worker_id(const Json& pod) {
  for (const Json& entry : array_at(array_at(pod, {"spec", "containers"})[0], {"env"})) {
    if (string_at(entry, {"name"}) != "TPU_WORKER_ID") continue;
    const std::string value = string_at(entry, {"value"});
    // A Job template has a reference to the annotation instead.
    return value.empty() ? string_at(pod, {"metadata", "annotations", tpu::kCompletionIndex}) : value;
  }
  return "none";
}

bool runs_whole(const std::vector<Json>& pods, int hosts) {
  std::set<std::string> pools;
  for (const Json& pod : pods) {
    if (string_at(pod, {"status", "phase"}) != "Running") return false;
    pools.insert(pool_of_node(string_at(pod, {"spec", "nodeName"})));
  }
  return pods.size() == static_cast<std::size_t>(hosts) && pools.size() == 1;
}

std::string describe(const std::map<std::string, std::vector<Json>>& slices) {
  std::string text;
  for (const auto& [slice, pods] : slices) {
    text += slice + ":";
    for (const Json& pod : pods) {
      text += fmt::format(" {}/{}/{}", string_at(pod, {"metadata", "name"}), string_at(pod, {"status", "phase"}),
                          string_at(pod, {"spec", "nodeName"}));
      const std::string waiting = string_at(pod, {"metadata", "annotations", tpu::kWaiting});
      if (!waiting.empty()) text += " (" + waiting + ")";
    }
    text += "\n";
  }
  return text.empty() ? "no pods" : text;
}

}  // namespace

/// Stops them after the last test: destructors of static objects run too late.
class StopKueuePlane : public ::testing::Environment {
 public:
  explicit StopKueuePlane(void (*stop)()) : stop_(stop) {}
  void TearDown() override { stop_(); }

 private:
  void (*stop_)();
};

void KueueTest::SetUpTestSuite() {
  if (plane_) return;
  ::testing::AddGlobalTestEnvironment(new StopKueuePlane(stop));  // GoogleTest deletes it.
  const auto directory = kueue_directory();
  if (!directory) {
    plane_ = directory.error();
    return;
  }
  kueue_directory_ = *directory;
  ControlPlaneOptions options;
  add_pools(options.pools, "4x4", kPools4x4, 4);
  add_pools(options.pools, "8x8", kPools8x8, 16);
  add_pools(options.pools, "2x4", kPools2x4, 2);
  sim::NodePool cpu;
  cpu.name = "cpu";
  cpu.hosts = 2;
  options.pools.push_back(std::move(cpu));
  options.crds = kueue_crds(kueue_directory_);
  for (const char* crd : {"ray.io_rayclusters", "ray.io_rayjobs", "ray.io_rayservices", "jobset.x-k8s.io_jobsets",
                          "leaderworkerset.x-k8s.io_leaderworkersets", "disaggregatedset.x-k8s.io_disaggregatedsets"}) {
    options.crds.push_back(fmt::format("deploy/crds/{}.yaml", crd));
  }
  plane_ = ControlPlane::start(std::move(options));
  if (!plane_->ok()) return;
  if (const Status started = start_kueue(); !started) {
    plane().keep_dir();
    const Error error = started.error().within(plane().dir());
    plane_ = error;
  }
}

Status KueueTest::start_kueue() {
  ASSIGN_OR_RETURN(kubeconfig_, install_operator(plane()));
  ASSIGN_OR_RETURN(kueue_, KueueProcess::start(plane(), kueue_directory_));
  for (const auto& [name, value] : std::map<std::string, int>{{"low", 10}, {"middle", 50}, {"high", 100}}) {
    const auto created = client().create(kPriorityClasses, Object(make_priority_class(name, value)));
    if (!created) return created.error();
  }
  return {};
}

void KueueTest::stop() {
  kueue_.reset();
  plane_.reset();
}

void KueueTest::SetUp() {
  if (!*plane_ && plane_->error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane_->error().message();
  ASSERT_TRUE(plane_->ok()) << plane_->error().message();
  const auto port = free_port();
  ASSERT_TRUE(port.ok() && register_webhook(client(), *port).ok());
  auto started = OperatorProcess::start(
      {.kubeconfig = kubeconfig_, .log = plane().dir() + "/operator.log", .webhook_port = *port});
  ASSERT_TRUE(started.ok()) << started.error().message();
  operator_ = std::move(*started);
  watch_ = std::make_unique<PodWatch>(client(), "default");
}

void KueueTest::TearDown() {
  if (!operator_) return;
  EXPECT_TRUE(kueue_->running()) << "Kueue has exited";
  EXPECT_EQ(operator_->metric("rest_client_requests_total", {{"code", "403"}}).value_or(0), 0)
      << "the rights of deploy/rbac are not enough";
  EXPECT_EQ(fmt::format("{}", fmt::join(watch_->violations(), "\n")), "");
  uncordon_all();
  remove_all();
  watch_.reset();
  const Status stopped = operator_->stop();
  EXPECT_TRUE(stopped.ok()) << stopped.error().message();
  operator_.reset();
  if (HasFailure()) {
    plane().keep_dir();
    fmt::print("logs: {}\n", plane().dir());
  }
}

void KueueTest::remove_all() {
  for (const WorkloadKind kind : kWorkloadKinds) {
    const auto list = client().list(type_of(kind), {.namespace_name = "default"}, {});
    ASSERT_TRUE(list.ok()) << list.error().message();
    for (const std::string& text : list->items) {
      const Object object(Json::parse(text));
      if (!object.controller()) remove(kind, object.name());
    }
  }
  Json left;
  const bool gone = eventually([&] {
    const auto list = client().list(kPods, {.namespace_name = "default"}, {});
    if (!list.ok() || list->items.empty()) return list.ok();
    left = Json::parse(list->items.front());
    return false;
  });
  EXPECT_TRUE(gone) << "pods are left: " << left.dump();
}

void KueueTest::uncordon_all() {
  for (const std::string& node : std::exchange(cordoned_, {})) cordon(node, false);
}

void KueueTest::create(const ResourceType& type, const Json& object) {
  const auto created = client().create(type, Object(object));
  ASSERT_TRUE(created.ok()) << created.error().message();
}

void KueueTest::create(const std::vector<TypedObject>& objects) {
  for (const auto& [type, object] : objects) create(type, object);
}

void KueueTest::create(WorkloadKind kind, const QueuedWorkload& workload) {
  create(type_of(kind), make_workload(kind, workload));
}

void KueueTest::remove(WorkloadKind kind, const std::string& name) {
  const Status removed = client().remove(type_of(kind), {"default", name});
  EXPECT_TRUE(removed.ok() || removed.error().code() == ErrorCode::kNotFound) << removed.error().message();
}

void KueueTest::cordon(const std::string& node, bool cordoned) {
  const auto patched =
      client().patch(kNodes, {"", node}, client::PatchType::kMerge, {{"spec", {{"unschedulable", cordoned}}}}, {});
  ASSERT_TRUE(patched.ok()) << patched.error().message();
  if (cordoned) cordoned_.push_back(node);
}

std::map<std::string, std::vector<Json>> KueueTest::slices() {
  std::map<std::string, std::vector<Json>> found;
  const auto list = client().list(
      kPods, {.namespace_name = "default", .label_selector = fmt::format("{0},{0}!={1}", tpu::kSlice, tpu::kNoSlice)},
      {});
  if (!list) return found;
  for (const std::string& text : list->items) {
    Json pod = Json::parse(text);
    const std::string phase = string_at(pod, {"status", "phase"});
    if (phase == "Failed" || phase == "Succeeded" || find_path(pod, {"metadata", "deletionTimestamp"})) continue;
    found[string_at(pod, {"metadata", "labels", tpu::kSlice})].push_back(std::move(pod));
  }
  return found;
}

std::map<std::string, std::vector<Json>> KueueTest::slices_of(const std::string& workload) {
  auto found = slices();
  std::erase_if(found, [&](const auto& entry) {
    // The slice key of a RayCluster begins with a hash; its pods name the cluster.
    const Json& pod = entry.second.front();
    return !string_at(pod, {"metadata", "name"}).starts_with(workload + "-");
  });
  return found;
}

void KueueTest::expect_running(const QueuedWorkload& workload, const std::string& when) {
  std::map<std::string, std::vector<Json>> found;
  const bool running = eventually(
      [&] {
        found = slices_of(workload.name);
        return found.size() == static_cast<std::size_t>(workload.slices) &&
               std::ranges::all_of(found, [&](const auto& slice) { return runs_whole(slice.second, workload.hosts); });
      },
      kLimit);
  ASSERT_TRUE(running) << workload.name << " does not run " << when << ": " << describe(found);
  for (const auto& [slice, pods] : found) expect_identity(slice, pods);
}

void KueueTest::expect_identity(const std::string& slice, const std::vector<Json>& pods) {
  std::set<std::string> nodes;
  std::set<int> ids;
  for (const Json& pod : pods) {
    nodes.insert(string_at(pod, {"spec", "nodeName"}));
    const std::string id = worker_id(pod);
    if (!id.empty() && std::ranges::all_of(id, [](char c) { return c >= '0' && c <= '9'; })) ids.insert(std::stoi(id));
  }
  EXPECT_EQ(nodes.size(), pods.size()) << slice << ": two hosts on one node";
  EXPECT_EQ(ids.size(), pods.size()) << slice << ": TPU_WORKER_ID is not unique";
  EXPECT_TRUE(!ids.empty() && *ids.begin() == 0 && *ids.rbegin() + 1 == static_cast<int>(pods.size())) << slice;
}

void KueueTest::expect_no_pod_bound(const QueuedWorkload& workload, const std::string& when) {
  std::map<std::string, std::vector<Json>> found;
  const bool none = eventually(
      [&] {
        found = slices_of(workload.name);
        return std::ranges::all_of(found, [](const auto& slice) {
          return std::ranges::all_of(slice.second, [](const Json& pod) {
            return string_at(pod, {"spec", "nodeName"}).empty();
          });
        });
      },
      kLimit);
  EXPECT_TRUE(none) << workload.name << " has pods with nodes " << when << ": " << describe(found);
}

std::vector<Json> KueueTest::kueue_workloads(const std::string& owner) {
  std::vector<Json> found;
  const auto list = client().list(kKueueWorkloads, {.namespace_name = "default"}, {});
  if (!list) return found;
  for (const std::string& text : list->items) {
    Json workload = Json::parse(text);
    const Json& owners = array_at(workload, {"metadata", "ownerReferences"});
    if (std::ranges::any_of(owners, [&](const Json& entry) { return string_at(entry, {"name"}) == owner; })) {
      found.push_back(std::move(workload));
    }
  }
  return found;
}

std::string KueueTest::condition(const Json& workload, const std::string& type) {
  for (const Json& entry : array_at(workload, {"status", "conditions"})) {
    if (string_at(entry, {"type"}) == type) return string_at(entry, {"status"});
  }
  return {};
}

void KueueTest::expect_condition(const std::string& owner, const std::string& type, const std::string& status) {
  std::vector<Json> found;
  const bool reached = eventually(
      [&] {
        found = kueue_workloads(owner);
        return !found.empty() &&
               std::ranges::all_of(found, [&](const Json& workload) { return condition(workload, type) == status; });
      },
      kLimit);
  std::string conditions;
  for (const Json& workload : found) conditions += array_at(workload, {"status", "conditions"}).dump() + "\n";
  EXPECT_TRUE(reached) << owner << ": " << type << " should be " << status << ": " << conditions;
}

void KueueTest::expect_without_quota(const std::string& owner) {
  const bool reached = eventually(
      [&] {
        const std::vector<Json> found = kueue_workloads(owner);
        return !found.empty() && std::ranges::all_of(found, [](const Json& workload) {
          return condition(workload, "QuotaReserved") != "True";
        });
      },
      kLimit);
  EXPECT_TRUE(reached) << owner << " has quota, or no Workload";
}

std::string KueueTest::waiting_reasons(const std::string& workload) {
  std::string reasons;
  for (const auto& [slice, pods] : slices_of(workload)) {
    for (const Json& pod : pods) {
      const std::string reason = string_at(pod, {"metadata", "annotations", tpu::kWaiting});
      if (!reason.empty()) reasons += slice + ": " + reason + "\n";
    }
  }
  return reasons;
}

}  // namespace tpuslice::testing
