// The control plane that other tests run on.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/client/credentials.h"
#include "api/client/protobuf_answer.h"
#include "api/types/views.h"
#include "tests/support/control_plane.h"
#include "tests/support/eventually.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

using ::testing::HasSubstr;

constexpr ResourceType kAccounts{"", "v1", "ServiceAccount", "serviceaccounts"};

/// One TPU slice of four hosts, and a CPU node.
std::vector<sim::NodePool> small_pools() {
  return sim::parse_node_pools(
             {{"pools",
               {{{"name", "slice"}, {"accelerator", "tpu-v6e-slice"}, {"topology", "4x4"}}, {{"name", "cpu"}}}}})
      .value();
}

Json pod_named(const std::string& name, const Json& annotations, const std::string& restart_policy) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "default"}, {"annotations", annotations}}},
          {"spec",
           {{"restartPolicy", restart_policy},
            {"containers", Json::array({Json{{"name", "main"}, {"image", "example"}}})}}}};
}

/// Child processes of a process.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "stat");
    std::string text;
    if (!std::getline(in, text)) continue;
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    std::string state;
    pid_t its_parent = 0;
    if (fields >> state >> its_parent && its_parent == parent) out.push_back(std::stoi(entry.path().filename()));
  }
  return out;
}

bool has_exited(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

/// All tests but the last two share one control plane.
class ControlPlaneTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto programs = control_plane_programs(); !programs) GTEST_SKIP() << programs.error().message();
    if (shared() == nullptr) {
      auto started = ControlPlane::start({.pools = small_pools(), .node_grace = 8s});
      ASSERT_TRUE(started.ok()) << started.error().message();
      shared() = std::move(started).value();
    }
  }
  void TearDown() override {
    if (!HasFailure() || shared() == nullptr) return;
    shared()->keep_dir();
    std::cerr << "logs are in " << shared()->dir() << "\n";
  }
  static void TearDownTestSuite() { shared().reset(); }

  static std::unique_ptr<ControlPlane>& shared() {
    static std::unique_ptr<ControlPlane> plane;
    return plane;
  }
  static client::Client& client() { return shared()->client(); }

  static void create(const ResourceType& type, const Json& json) {
    const auto created = client().create(type, Object(json));
    ASSERT_TRUE(created.ok()) << created.error().message();
  }
  static Json get(const ResourceType& type, const std::string& name) {
    const auto found = client().get(type, {type.namespaced ? "default" : "", name});
    return found ? found->json() : Json();
  }
  static std::string condition(const Json& object, const std::string& type) {
    for (const Json& each : array_at(object, {"status", "conditions"})) {
      if (string_at(each, {"type"}) == type) return string_at(each, {"status"});
    }
    return {};
  }
  static std::string phase(const std::string& pod) { return string_at(get(kPods, pod), {"status", "phase"}); }
  static bool ready(const std::string& pod) { return condition(get(kPods, pod), "Ready") == "True"; }
  static Json container(const std::string& pod) {
    const Json found = get(kPods, pod);
    const Json& statuses = array_at(found, {"status", "containerStatuses"});
    return statuses.empty() ? Json() : statuses.front();
  }
  static bool is_deleted(const ResourceType& type, const std::string& name) {
    const auto found = client().get(type, {"default", name});
    return !found && found.error().code() == ErrorCode::kNotFound;
  }
};

TEST_F(ControlPlaneTest, HasTheNodesOfItsPools) {
  for (const char* name : {"slice-0", "slice-1", "slice-2", "slice-3", "cpu-0"}) {
    EXPECT_EQ(condition(get(kNodes, name), "Ready"), "True") << name;
  }
  const Json node = get(kNodes, "slice-0");
  EXPECT_EQ(string_at(node, {"status", "allocatable", "google.com/tpu"}), "4");
  EXPECT_EQ(string_at(node, {"metadata", "labels", "cloud.google.com/gke-tpu-topology"}), "4x4");
  const Json& taints = array_at(node, {"spec", "taints"});
  ASSERT_EQ(taints.size(), 1U);
  EXPECT_EQ(string_at(taints.front(), {"key"}), "google.com/tpu");
}

TEST_F(ControlPlaneTest, RunsATpuPod) {
  Json pod = pod_named("tpu", Json::object(), "Always");
  pod["spec"]["containers"][0]["resources"] = {{"limits", {{"google.com/tpu", "4"}}}};
  create(kPods, pod);
  ASSERT_TRUE(eventually([] { return ready("tpu"); })) << get(kPods, "tpu");
  const Json running = get(kPods, "tpu");
  EXPECT_THAT(string_at(running, {"spec", "nodeName"}), HasSubstr("slice-"));
  EXPECT_THAT(string_at(running, {"status", "podIP"}), HasSubstr("10.64."));
  ASSERT_TRUE(client().remove(kPods, {"default", "tpu"}, {}).ok());
  EXPECT_TRUE(eventually([] { return is_deleted(kPods, "tpu"); })) << get(kPods, "tpu");
}

TEST_F(ControlPlaneTest, PodsFollowTheAnnotationsOfTheSimulator) {
  const auto annotation = [](const std::string& name, const std::string& value) {
    return Json{{"sim.tpuslice.dev/" + name, value}};
  };
  create(kPods, pod_named("completes", annotation("complete-after", "100ms"), "Never"));
  Json fails = annotation("fail-after", "100ms");
  fails.update(annotation("exit-code", "42"));
  create(kPods, pod_named("fails", fails, "Never"));
  create(kPods, pod_named("restarts", annotation("fail-after", "100ms"), "Always"));
  create(kPods, pod_named("crashes", annotation("crash-loop", "true"), "Always"));
  create(kPods, pod_named("unready", annotation("never-ready", "true"), "Always"));
  create(kPods, pod_named("nopull", annotation("image-pull-error", "true"), "Always"));

  EXPECT_TRUE(eventually([] { return phase("completes") == "Succeeded"; })) << get(kPods, "completes");
  EXPECT_TRUE(eventually([] { return phase("fails") == "Failed"; })) << get(kPods, "fails");
  EXPECT_EQ(int_at(container("fails"), {"state", "terminated", "exitCode"}), 42);
  EXPECT_TRUE(eventually([] { return ready("restarts") && int_at(container("restarts"), {"restartCount"}) == 1; }))
      << get(kPods, "restarts");
  const auto waits = [](const std::string& pod, const std::string& reason) {
    return string_at(container(pod), {"state", "waiting", "reason"}) == reason;
  };
  EXPECT_TRUE(eventually([&] { return waits("crashes", "CrashLoopBackOff"); })) << get(kPods, "crashes");
  EXPECT_TRUE(eventually([&] { return waits("nopull", "ImagePullBackOff"); })) << get(kPods, "nopull");
  EXPECT_EQ(phase("unready"), "Running");
  EXPECT_EQ(condition(get(kPods, "unready"), "Ready"), "False");
}

/// A pod with all fields that views read. Its owner does not exist, so the garbage collector deletes it; it stays,
/// terminating, because of its finalizer.
Json pod_with_every_field() {
  Json pod = pod_named("every-field", {{"tpuslice.dev/text", "a \"quoted\" \\ line\nand \u00fc"}}, "Never");
  pod["metadata"]["labels"] = {{"app", "test"}, {"empty", ""}};
  pod["metadata"]["finalizers"] = {"example.com/hold"};
  pod["metadata"]["ownerReferences"] = Json::array(
      {{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", "cpu-0"}, {"uid", "of-no-node"}, {"controller", true}}});
  Json& spec = pod["spec"];
  spec["schedulingGates"] = Json::array({{{"name", "tpuslice.dev/slice"}}});
  spec["nodeSelector"] = {{"no", "where"}};
  spec["priorityClassName"] = "patient";
  spec["activeDeadlineSeconds"] = 3000;
  spec["tolerations"] = Json::array({{{"key", "google.com/tpu"}, {"operator", "Exists"}, {"effect", "NoSchedule"}},
                                     {{"key", "team"}, {"value", "a"}}});
  const Json on_node = {
      {"matchExpressions", Json::array({{{"key", "a"}, {"operator", "In"}, {"values", {"x", "y"}}}})},
      {"matchFields", Json::array({{{"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({"n"})}}})}};
  spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
      Json::array({on_node});
  spec["containers"][0]["resources"]["limits"]["google.com/tpu"] = "4";
  spec["initContainers"] = Json::array({{{"name", "side"}, {"image", "example"}, {"restartPolicy", "Always"}}});
  return pod;
}

Json status_with_every_field() {
  const auto container = [](const std::string& name, const Json& state) {
    return Json{{"name", name},      {"image", "example"}, {"imageID", ""}, {"ready", name == "main"},
                {"restartCount", 3}, {"state", state}};
  };
  const Json waiting = {{"waiting", {{"reason", "ErrImagePull"}, {"message", "no such image"}}}};
  const Json terminated = {{"terminated", {{"exitCode", 1}, {"reason", "Error"}, {"message", "failed"}}}};
  return {
      {"phase", "Running"},
      {"reason", "Evicted"},
      {"message", "line\nand tab\t"},
      {"nominatedNodeName", "cpu-0"},
      {"podIP", "10.0.0.1"},
      {"podIPs", Json::array({{{"ip", "10.0.0.1"}}})},
      {"conditions",
       Json::array({{{"type", "Ready"}, {"status", "False"}, {"reason", "NotReady"}, {"message", "why"}},
                    {{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}, {"message", "full"}},
                    {{"type", "DisruptionTarget"},
                     {"status", "True"},
                     {"reason", tpu::kPreemptionBySlice},
                     {"lastTransitionTime", "1960-01-01T00:00:00Z"}}})},
      {"containerStatuses", Json::array({container("main", terminated)})},
      {"initContainerStatuses", Json::array({container("side", waiting)})}};
}

/// The initial events of a watch, then those of a list, as views.
template <typename View>
std::vector<View> read_views(client::Client& client, const ResourceType& type, bool for_view) {
  std::vector<View> views;
  const auto watch = client.watch(type, {.send_initial_events = true, .for_view = for_view});
  int waits = 0;
  for (bool initial = watch.ok(); initial;) {
    const auto event = (*watch)->next(100ms, {});
    if (event.ok() && !*event && ++waits < 100) continue;
    initial = event.ok() && *event && !(*event)->initial_events_end;
    if (initial) views.push_back(View::decode((*event)->object).value());
  }
  std::ranges::sort(views, {}, &View::key);
  std::string more;
  do {
    const auto page = client.list(type, {.limit = 2, .continue_token = more, .for_view = for_view});
    EXPECT_TRUE(page.ok()) << page.error().message();
    if (!page) break;
    for (const std::string& item : page->items) views.push_back(View::decode(item).value());
    more = page->continue_token;
  } while (!more.empty());
  return views;
}

TEST_F(ControlPlaneTest, PodsAndNodesAreTheSameInProtobufAndJson) {
  create({"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false},
         {{"metadata", {{"name", "patient"}}}, {"value", 7}, {"preemptionPolicy", "Never"}});
  // The API server reads PriorityClasses from a cache.
  std::string refusal;
  ASSERT_TRUE(eventually([&] {
    const auto created = client().create(kPods, Object(pod_with_every_field()));
    refusal = created ? "" : created.error().message();
    return created.ok();
  })) << refusal;
  const auto patched = client().update_status(kPods, {"default", "every-field"}, status_with_every_field(), {}, {});
  ASSERT_TRUE(patched.ok()) << patched.error().message();

  const auto answer = client().raw(client::list_request(kPods, {.for_view = true}));
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(client::is_protobuf(answer->headers));

  // Objects may change between two reads.
  EXPECT_TRUE(eventually([] {
    const auto pods = read_views<PodView>(client(), kPods, false);
    return pods.size() >= 2 && pods == read_views<PodView>(client(), kPods, true);
  }));
  EXPECT_TRUE(eventually([] {
    const auto nodes = read_views<NodeView>(client(), kNodes, false);
    return nodes.size() == 10 && nodes == read_views<NodeView>(client(), kNodes, true);
  })) << "5 nodes, by watch and by list";

  const auto refused = [](bool for_view) {
    return client().list(kPods, {.continue_token = "none", .for_view = for_view}).error();
  };
  EXPECT_EQ(refused(true).message(), refused(false).message());
  EXPECT_EQ(refused(true).reason(), "BadRequest");
}

TEST_F(ControlPlaneTest, CollectsGarbage) {
  create(kConfigMaps, {{"metadata", {{"name", "owner"}, {"namespace", "default"}}}});
  const Json owner = {{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"name", "owner"},
                      {"uid", string_at(get(kConfigMaps, "owner"), {"metadata", "uid"})}};
  create(kConfigMaps,
         {{"metadata", {{"name", "dependent"}, {"namespace", "default"}, {"ownerReferences", Json::array({owner})}}}});
  ASSERT_TRUE(client().remove(kConfigMaps, {"default", "owner"}, {}).ok());
  EXPECT_TRUE(eventually([] { return is_deleted(kConfigMaps, "dependent"); }));
}

TEST_F(ControlPlaneTest, ServiceAccountsHaveOnlyTheirOwnPermissions) {
  create(kAccounts, {{"metadata", {{"name", "reader"}, {"namespace", "default"}}}});
  const auto kubeconfig = shared()->service_account_kubeconfig({"default", "reader"});
  ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
  const RealClock clock;
  const auto transport = client::make_transport(client::load_kubeconfig(*kubeconfig).value(), clock);
  ASSERT_TRUE(transport.ok());
  client::Client reader(**transport);
  const auto pods = reader.list(kPods);
  ASSERT_FALSE(pods.ok());
  EXPECT_EQ(pods.error().code(), ErrorCode::kForbidden);
  EXPECT_THAT(pods.error().message(), HasSubstr("system:serviceaccount:default:reader"));
}

/// Regression: a late deletion by kwok removed the next pod of the same name.
TEST_F(ControlPlaneTest, KubeletsRemoveOnlyTerminatingPods) {
  create(kPods, pod_named("running", Json::object(), "Always"));
  const RealClock clock;
  const auto config = client::load_kubeconfig(shared()->dir() + "/kwok.kubeconfig");
  ASSERT_TRUE(config.ok()) << config.error().message();
  const auto transport = client::make_transport(*config, clock);
  ASSERT_TRUE(transport.ok()) << transport.error().message();
  client::Client kubelet(**transport, {});
  const Status removed = kubelet.remove(kPods, {"default", "running"});
  ASSERT_FALSE(removed.ok());
  EXPECT_THAT(removed.error().message(), HasSubstr("not to be deleted"));
  EXPECT_TRUE(eventually([] { return ready("running"); })) << get(kPods, "running");
}

TEST_F(ControlPlaneTest, ALostNodeIsNotReadyUntilItReturns) {
  create(kPods, pod_named("on-lost-node", Json::object(), "Always"));
  ASSERT_TRUE(eventually([] { return ready("on-lost-node"); }));
  ASSERT_TRUE(shared()->lose_node("cpu-0").ok());
  EXPECT_TRUE(eventually([] { return condition(get(kNodes, "cpu-0"), "Ready") == "Unknown"; }));
  EXPECT_TRUE(eventually([] { return !ready("on-lost-node"); }));
  ASSERT_TRUE(shared()->return_node("cpu-0").ok());
  EXPECT_TRUE(eventually([] { return condition(get(kNodes, "cpu-0"), "Ready") == "True"; }));
  EXPECT_TRUE(eventually([] { return ready("on-lost-node"); }));
}

TEST_F(ControlPlaneTest, ARestartedApiServerKeepsItsData) {
  create(kConfigMaps, {{"metadata", {{"name", "kept"}, {"namespace", "default"}}}});
  const std::string uid = string_at(get(kConfigMaps, "kept"), {"metadata", "uid"});
  const std::string server = shared()->server();
  shared()->kill_apiserver();
  EXPECT_FALSE(client().get(kConfigMaps, {"default", "kept"}).ok());
  const Status restarted = shared()->start_apiserver();
  ASSERT_TRUE(restarted.ok()) << restarted.error().message();
  EXPECT_EQ(shared()->server(), server);
  EXPECT_EQ(string_at(get(kConfigMaps, "kept"), {"metadata", "uid"}), uid);
  // Scheduler and kwok reconnect.
  create(kPods, pod_named("afterwards", Json::object(), "Always"));
  EXPECT_TRUE(eventually([] { return ready("afterwards"); })) << get(kPods, "afterwards");
}

TEST_F(ControlPlaneTest, TwoControlPlanesRunInParallelAndStopCleanly) {
  auto second = ControlPlane::start({.pools = small_pools()});
  ASSERT_TRUE(second.ok()) << second.error().message();
  ControlPlane& other = **second;
  EXPECT_NE(other.server(), shared()->server());
  ASSERT_TRUE(other.client()
                  .create(kConfigMaps, Object(Json{{"metadata", {{"name", "other"}, {"namespace", "default"}}}}))
                  .ok());
  EXPECT_TRUE(is_deleted(kConfigMaps, "other"));

  std::vector<pid_t> pids;
  for (const char* program : {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"}) {
    ASSERT_NE(other.process(program), nullptr) << program;
    pids.push_back(other.process(program)->pid());
  }
  other.stop();
  for (const pid_t pid : pids) EXPECT_TRUE(has_exited(pid));
  EXPECT_FALSE(std::filesystem::exists(other.dir()));
}

TEST_F(ControlPlaneTest, ProcessesExitWithTheProgramThatStartedThem) {
  const auto bin = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::filesystem::path dir = ::testing::TempDir() + "controlplane_test." + std::to_string(getpid());
  const std::string log = dir.string() + ".log";
  auto program = Process::start(
      {.program = bin / "tpu-slice-controlplane",
       .args = {"--dir=" + dir.string(), "--no-controllers", "--no-scheduler", "--no-kwok", "--no-pools"},
       .log = log});
  ASSERT_TRUE(program.ok()) << program.error().message();
  EXPECT_TRUE(eventually([&] { return last_lines(log, 1).starts_with("ready: "); })) << last_lines(log, 20);
  const std::vector<pid_t> children = children_of((*program)->pid());
  EXPECT_EQ(children.size(), 2U) << "etcd and kube-apiserver";
  (*program)->kill();
  for (const pid_t pid : children) EXPECT_TRUE(eventually([&] { return has_exited(pid); })) << pid;
  std::filesystem::remove_all(dir);
  std::filesystem::remove(log);
}

TEST(ControlPlaneOptionsTest, ADirectoryThatIsNotEmptyIsRefused) {
  if (const auto programs = control_plane_programs(); !programs) GTEST_SKIP() << programs.error().message();
  const auto refused = ControlPlane::start({.dir = "tests"});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message(), HasSubstr("/tests: must be a new or empty directory"));
  EXPECT_TRUE(std::filesystem::exists("tests"));
}

}  // namespace
}  // namespace tpuslice::testing
