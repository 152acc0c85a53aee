// An upgrade from an earlier version of the operator, and a rollback, while workloads of every kind run and pods are
// admitted.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"
#include "tests/e2e/admission_load.h"
#include "tests/e2e/uninstall/workloads.h"
#include "tests/e2e/upgrade/replicas.h"
#include "tests/support/eventually.h"
#include "tests/support/live_pods.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kKinds = 5;

sim::NodePool tpu_pool(const std::string& name, const std::string& accelerator, const std::string& machine_type) {
  sim::NodePool pool;
  pool.name = name;
  pool.accelerator = accelerator;
  pool.topology = "4x4";
  pool.machine_type = machine_type;
  pool.hosts = kHostsOfSlice;
  pool.chips_per_host = 4;
  return pool;
}

/// One for each workload, and one for those that are started later.
std::vector<sim::NodePool> pools() {
  std::vector<sim::NodePool> out;
  for (int i = 0; i <= kKinds; ++i)
    out.push_back(tpu_pool(fmt::format("tpu-{}", i), "tpu-v6e-slice", "ct6e-standard-4t"));
  sim::NodePool cpu;
  cpu.name = "cpu";
  cpu.hosts = 2;
  out.push_back(cpu);
  return out;
}

/// A JobSet whose slice waits until there is a pool of this accelerator.
std::string waiting_jobset() {
  std::string text = jobset_manifest("waiting", false);
  const std::string accelerator = "tpu-v6e-slice";
  return text.replace(text.find(accelerator), accelerator.size(), "tpu-v5-lite-podslice");
}

Json tpu_pod() {
  Json pod = tpu::testing::RayPod{}.json();
  for (Json& container : pod["spec"]["containers"]) container["image"] = "i";
  return pod;
}

class Upgrade : public ::testing::Test {
 protected:
  void SetUp() override {
    auto plane = ControlPlane::start({.pools = pools()});
    if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
    ASSERT_TRUE(plane.ok()) << plane.error().message();
    plane_ = *std::move(plane);
    const auto release = earlier_release();
    if (release) {
      earlier_ = *release;
    } else {
      fmt::print("{}: this version replaces itself\n", release.error().message());
      earlier_ = this_release();
    }
    replicas_ = std::make_unique<Replicas>(*plane_);
  }
  void TearDown() override {
    replicas_.reset();
    if (!plane_ || !HasFailure()) return;
    plane_->keep_dir();
    fmt::print("logs: {}\n", plane_->dir());
  }

  [[nodiscard]] client::Client& client() { return plane_->client(); }

  void apply(const std::string& manifest) {
    const auto documents = parse_yaml_documents(manifest);
    ASSERT_TRUE(documents.ok()) << documents.error().message();
    for (const YamlDocument& document : *documents) {
      const Object object(document.value);
      const ResourceType type = type_of(object.kind());
      const auto applied = client().patch(type, {"default", object.name()}, client::PatchType::kApply, object.json());
      ASSERT_TRUE(applied.ok()) << object.kind() << " " << object.name() << ": " << applied.error().message();
    }
  }

  [[nodiscard]] std::vector<Object> pods() { return live_pods(client(), "default"); }

  [[nodiscard]] int running_hosts(const std::string& prefix) {
    const auto all = pods();
    return static_cast<int>(std::ranges::count_if(all, [&](const Object& pod) {
      return pod.name().starts_with(prefix) && !pod.label(tpu::kSlice).empty() &&
             string_at(pod.json(), {"status", "phase"}) == "Running";
    }));
  }

  /// Name of each pod whose name begins with `prefix` to what changes if it is recreated or restarted.
  [[nodiscard]] std::map<std::string, std::string> identities(const std::string& prefix) {
    std::map<std::string, std::string> out;
    for (const Object& pod : pods()) {
      if (!pod.name().starts_with(prefix)) continue;
      int restarts = 0;
      for (const Json& status : array_at(pod.json(), {"status", "containerStatuses"}))
        restarts += static_cast<int>(int_at(status, {"restartCount"}));
      out[pod.name()] = fmt::format("uid {}, {} restarts", pod.uid(), restarts);
    }
    return out;
  }

  /// The leader serves a new workload: it is past everything that it does at its start.
  void expect_serves(const std::string& name) {
    apply(jobset_manifest(name, false));
    EXPECT_TRUE(eventually([&] { return running_hosts(name) == kHostsOfSlice; }, 60s)) << name;
    EXPECT_TRUE(client().remove(type_of("JobSet"), {"default", name}).ok());
    EXPECT_TRUE(eventually([&] { return running_hosts(name) == 0; }, 60s)) << name;
  }

  /// Under load: installs and rolls out the release; no admission fails, no pod is replaced or restarted.
  void change_to(const Release& release, const std::string& probe) {
    const auto before = identities("first");
    AdmissionLoad load(client(), tpu_pod());
    const Status installed = replicas_->install(release);
    ASSERT_TRUE(installed.ok()) << installed.error().message();
    const Status rolled = replicas_->roll_out(release);
    ASSERT_TRUE(rolled.ok()) << rolled.error().message();
    load.stop();
    ASSERT_NO_FATAL_FAILURE(expect_serves(probe));
    EXPECT_EQ(identities("first"), before) << release.name;
    fmt::print("{}: rolled out, {} admissions, {} failed; {} pods as before\n", release.name, load.admitted(),
               load.failed(), before.size());
    EXPECT_EQ(load.failed(), 0) << load.first_failure();
    EXPECT_GT(load.admitted(), 100);
  }

  /// Messages of the events about slices of `prefix` that were torn down.
  [[nodiscard]] std::vector<std::string> torn_down(const std::string& prefix) {
    std::vector<std::string> messages;
    const auto events = client().list(type_of("Event"), {.namespace_name = "default"}, {});
    if (!events) return {events.error().message()};
    for (const std::string& text : events->items) {
      const Json event = Json::parse(text);
      if (string_at(event, {"reason"}) == "SliceTornDown" &&
          string_at(event, {"regarding", "name"}).starts_with(prefix))
        messages.push_back(string_at(event, {"note"}));
    }
    return messages;
  }

  static ResourceType type_of(const std::string& kind) {
    if (kind == "RayCluster") return {"ray.io", "v1", kind, "rayclusters"};
    if (kind == "JobSet") return {"jobset.x-k8s.io", "v1alpha2", kind, "jobsets"};
    if (kind == "LeaderWorkerSet") return {"leaderworkerset.x-k8s.io", "v1", kind, "leaderworkersets"};
    if (kind == "Job") return kJobs;
    if (kind == "StatefulSet") return {"apps", "v1", kind, "statefulsets"};
    if (kind == "Event") return {"events.k8s.io", "v1", kind, "events"};
    return kServices;
  }

  Release earlier_;
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<Replicas> replicas_;
};

TEST_F(Upgrade, AndRollbackReplaceNoPod) {
  ASSERT_TRUE(replicas_->install(earlier_).ok());
  const Status started = replicas_->roll_out(earlier_);
  ASSERT_TRUE(started.ok()) << started.error().message();
  ASSERT_TRUE(eventually([&] { return client().create(kPods, Object(tpu_pod()), {.dry_run = true}).ok(); }));
  for (const SliceWorkload& workload : workloads_of_every_kind("first"))
    ASSERT_NO_FATAL_FAILURE(apply(workload.manifest)) << workload.kind;
  ASSERT_TRUE(eventually([&] { return running_hosts("first") == kKinds * kHostsOfSlice; }, 60s));
  ASSERT_NO_FATAL_FAILURE(apply(waiting_jobset()));
  ASSERT_TRUE(eventually([&] { return identities("waiting").size() == kHostsOfSlice; }));
  const auto waiting = identities("waiting");

  ASSERT_NO_FATAL_FAILURE(change_to(this_release(), "probe-1"));
  ASSERT_NO_FATAL_FAILURE(change_to(earlier_, "probe-2"));
  EXPECT_EQ(identities("waiting"), waiting);
  EXPECT_THAT(torn_down("first"), IsEmpty());

  // A slice that waited all the time, and one that the earlier version has placed.
  ASSERT_NO_FATAL_FAILURE(change_to(this_release(), "probe-3"));
  ASSERT_TRUE(plane_->add_pools({tpu_pool("v5e", "tpu-v5-lite-podslice", "ct5lp-hightpu-4t")}).ok());
  EXPECT_TRUE(eventually([&] { return running_hosts("waiting") == kHostsOfSlice; }, 60s));
  const auto old = identities("first-lws");
  ASSERT_THAT(old, SizeIs(kHostsOfSlice));
  ASSERT_TRUE(client().remove(kPods, {"default", old.rbegin()->first}).ok());
  const bool rebuilt = eventually(
      [&] {
        const auto now = identities("first-lws");
        return running_hosts("first-lws") == kHostsOfSlice &&
               std::ranges::none_of(now, [&](const auto& each) { return old.at(each.first) == each.second; });
      },
      60s);
  EXPECT_TRUE(rebuilt) << "a slice that the earlier version has placed is rebuilt whole";
}

}  // namespace
}  // namespace tpuslice::testing
