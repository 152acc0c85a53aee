#include "controllers/drain/drain.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"
#include "cmd/tpu-slice-operator/drain_command.h"
#include "tests/support/fake_api.h"
#include "tests/support/paged_reader.h"

namespace tpuslice::drain {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::FakeApi;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr ResourceType kMutating{"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
                                 "mutatingwebhookconfigurations", false};
constexpr ResourceType kPolicy{"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy",
                               "validatingadmissionpolicies", false};
constexpr ResourceType kRayClusters{"ray.io", "v1", "RayCluster", "rayclusters"};
constexpr const char* kRedisFinalizer = "ray.io/gcs-ft-redis-cleanup-finalizer";

class DrainTest : public ::testing::Test {
 protected:
  DrainTest() {
    options_.namespace_name = "tpu-slice-system";
    options_.steps.retry = 1ms;
    options_.steps.max_attempts = 3;
    options_.settle = 0ms;
    options_.finalizers = {{kRayClusters, kRedisFinalizer, true}};
  }
  void put(const ResourceType& type, const std::string& yaml) { api_.put(type, Object(parse_yaml(yaml).value())); }
  /// `gates`: as a YAML list.
  void put_pod(const std::string& name, const std::string& slice, const std::string& created = "2026-01-01T00:00:00Z",
               const std::string& gates = "{name: tpuslice.dev/slice}", const std::string& more = "") {
    put(kPods, fmt::format("{{metadata: {{name: {}, namespace: default, creationTimestamp: '{}', labels: "
                           "{{tpuslice.dev/slice: {}}}, annotations: {{tpuslice.dev/waiting: x, a: b}}{}}}, "
                           "spec: {{schedulingGates: [{}]}}}}",
                           name, created, slice, more, gates));
  }
  void put_job(const std::string& name, const std::string& spec, const std::string& status = "") {
    put(kJobs,
        fmt::format("{{metadata: {{name: {}, namespace: default}}, spec: {{{} template: {{metadata: {{annotations: "
                    "{{tpuslice.dev/mutated-by: job-template, a: b}}}}, spec: {{schedulingGates: "
                    "[{{name: tpuslice.dev/slice}}, {{name: other}}]}}}}}}, status: {{{}}}}}",
                    name, spec, status));
  }
  Report run() {
    runtime::InlineParallel parallel;
    return Drain({api_, api_, parallel, clock_, log_}, options_).run({});
  }
  Json gates_of(const std::string& pod) {
    return api_.find(kPods, {"default", pod})->json()["spec"]["schedulingGates"];
  }
  Json gates_of_job(const std::string& job) {
    return api_.find(kJobs, {"default", job})->json()["spec"]["template"]["spec"]["schedulingGates"];
  }

  FakeApi api_;
  RealClock clock_;
  const Logger log_;
  Options options_;
};

TEST_F(DrainTest, OfAnEmptyClusterIsComplete) {
  const Report report = run();
  EXPECT_TRUE(report.complete()) << report.to_string();
  EXPECT_THAT(report.configurations, IsEmpty());
}

TEST_F(DrainTest, RemovesTheGateOnlyAndKeepsOtherGates) {
  put_pod("a", "s");
  put_pod("b", "s", "2026-01-01T00:00:00Z", "{name: tpuslice.dev/slice}, {name: kueue.x-k8s.io/admission}");
  put_pod("c", "s", "2026-01-01T00:00:00Z", "{name: kueue.x-k8s.io/admission}");
  const Report report = run();
  EXPECT_TRUE(report.complete()) << report.to_string();
  EXPECT_EQ(gates_of("a"), Json::array());
  EXPECT_EQ(gates_of("b"), Json::parse(R"([{"name": "kueue.x-k8s.io/admission"}])"));
  EXPECT_EQ(api_.find(kPods, {"default", "a"})->json()["metadata"]["annotations"], Json({{"a", "b"}}));
  EXPECT_EQ(api_.writes(), (std::vector<std::string>{"delete tpu-slice-operator", "delete tpu-slice-operator",
                                                     "delete tpu-slice-operator", "delete tpu-slice-operator",
                                                     "patch default/a", "patch default/b"}));
  EXPECT_THAT(report.pods, ElementsAre(Pair("default", 2U)));
  EXPECT_EQ(report.slices, 1U);
}

TEST_F(DrainTest, ReleasesTheOldestSliceFirstAndEachTogether) {
  put_pod("a-0", "a-young", "2026-01-03T00:00:00Z");
  put_pod("b-0", "b-old", "2026-01-02T00:00:00Z");
  put_pod("a-1", "a-young", "2026-01-02T12:00:00Z");
  put_pod("b-1", "b-old", "2026-01-04T00:00:00Z");
  const Report report = run();
  std::vector<std::string> patches = api_.writes();
  std::erase_if(patches, [](const std::string& write) { return !write.starts_with("patch"); });
  EXPECT_THAT(patches, ElementsAre("patch default/b-0", "patch default/b-1", "patch default/a-0", "patch default/a-1"));
  EXPECT_EQ(report.slices, 2U);
}

// Otherwise new pods would get the gate after the others have lost it.
TEST_F(DrainTest, DeletesTheWebhookConfigurationBeforeItOpensGates) {
  put(kMutating, "{metadata: {name: tpu-slice-operator}}");
  put_pod("a", "s");
  const Report report = run();
  EXPECT_THAT(report.configurations, ElementsAre("MutatingWebhookConfiguration tpu-slice-operator"));
  EXPECT_FALSE(api_.find(kMutating, {"", "tpu-slice-operator"}));
  const auto writes = api_.writes();
  EXPECT_EQ(writes.front(), "delete tpu-slice-operator");
  EXPECT_EQ(writes.back(), "patch default/a");
}

TEST_F(DrainTest, DoesNothingElseIfItMayNotDeleteTheWebhookConfiguration) {
  put(kMutating, "{metadata: {name: tpu-slice-operator}}");
  put_pod("a", "s");
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.type == kMutating) return Error::of(ErrorCode::kForbidden, "forbidden");
    return std::nullopt;
  };
  const Report report = run();
  ASSERT_EQ(report.remaining.size(), 1U);
  EXPECT_EQ(report.remaining[0].command,
            "kubectl delete mutatingwebhookconfigurations.admissionregistration.k8s.io tpu-slice-operator");
  EXPECT_EQ(gates_of("a").size(), 1U);
}

TEST_F(DrainTest, GoesOnWithoutThePermissionToDeleteThePolicy) {
  put(kPolicy, "{metadata: {name: tpu-slice-operator}}");
  put_pod("a", "s");
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.type == kPolicy) return Error::of(ErrorCode::kForbidden, "forbidden");
    return std::nullopt;
  };
  const Report report = run();
  EXPECT_EQ(gates_of("a"), Json::array());
  ASSERT_EQ(report.remaining.size(), 1U);
  EXPECT_THAT(report.remaining[0].command, HasSubstr("kubectl delete validatingadmissionpolicies"));
}

TEST_F(DrainTest, ReadsAPodAgainThatChangedMeanwhile) {
  put_pod("a", "s");
  bool changed = false;
  api_.on_write = [&](const FakeApi::Call& call, const std::stop_token&) {
    if (call.verb != "patch" || std::exchange(changed, true)) return;
    Object pod = *api_.find(kPods, {"default", "a"});
    pod.mutable_json()["spec"]["schedulingGates"].push_back({{"name", "late"}});
    api_.put(kPods, pod);
  };
  const Report report = run();
  EXPECT_TRUE(report.complete()) << report.to_string();
  EXPECT_EQ(gates_of("a"), Json::parse(R"([{"name": "late"}])"));
  EXPECT_THAT(report.pods, ElementsAre(Pair("default", 1U)));
}

TEST_F(DrainTest, FindsPodsThatAppearMeanwhile) {
  put_pod("a-0", "a");
  int appeared = 0;
  api_.on_write = [&](const FakeApi::Call& call, const std::stop_token&) {
    if (call.verb == "patch" && appeared < 3) put_pod(fmt::format("late-{}", appeared++), "late");
  };
  const Report report = run();
  EXPECT_TRUE(report.complete()) << report.to_string();
  EXPECT_THAT(report.pods, ElementsAre(Pair("default", 4U)));
  EXPECT_EQ(gates_of("late-2"), Json::array());
}

// API servers call a deleted webhook a moment longer.
TEST_F(DrainTest, LooksForNewPodsForAWhileAfterTheConfigurationWasDeleted) {
  options_.settle = 200ms;
  options_.steps.retry = 10ms;
  int lists = 0;
  api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.verb == "list" && call.type == kPods && call.body == "" && ++lists == 3) put_pod("late", "s");
    return std::nullopt;
  };
  const Report report = run();
  EXPECT_TRUE(report.complete()) << report.to_string();
  EXPECT_EQ(gates_of("late"), Json::array());
}

TEST_F(DrainTest, SaysWhichPodsItCouldNotOpenAndHow) {
  put_pod("a", "s");
  put_pod("b", "s");
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.text() == "patch default/a") return Error::of(ErrorCode::kForbidden, "denied by policy x");
    return std::nullopt;
  };
  const Report report = run();
  EXPECT_EQ(gates_of("b"), Json::array());
  ASSERT_EQ(report.remaining.size(), 1U) << report.to_string();
  EXPECT_EQ(report.remaining[0].what, "pod default/a: denied by policy x");
  EXPECT_EQ(report.remaining[0].command,
            "kubectl -n default patch pods a --type=merge -p "
            "'{\"metadata\":{\"annotations\":{\"tpuslice.dev/waiting\":null,\"tpuslice.dev/"
            "waiting-reason\":null}},\"spec\":{\"schedulingGates\":[]}}'");
}

TEST_F(DrainTest, IsNotCompleteIfPodsCannotBeListed) {
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.verb == "list" && call.type == kPods) return Error::unavailable("no answer");
    return std::nullopt;
  };
  const Report report = run();
  EXPECT_FALSE(report.complete());
  EXPECT_THAT(report.to_string(), HasSubstr("no answer"));
}

TEST_F(DrainTest, ReadsFewerObjectsAtATimeIfTheyAreLarge) {
  put_pod("a", "s");
  int refused = 0;
  api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.verb != "list" || call.type != kPods || refused == 5) return std::nullopt;
    ++refused;
    return Error::of(ErrorCode::kResponseTooLong, "the response is longer than 8 MiB");
  };
  const Report report = run();
  EXPECT_TRUE(report.complete()) << report.to_string();
  EXPECT_EQ(gates_of("a"), Json::array());
}

/// Regression: one object whose JSON was longer than the transport accepts stopped the drain of the whole cluster.
TEST_F(DrainTest, NamesObjectsThatAreTooLongAndReleasesTheOthers) {
  for (const char* name : {"a", "b", "d"}) put_job(name, "suspend: true,");
  put_job("c", "suspend: true,", fmt::format("message: {}", std::string(30'000, 'x')));
  put_pod("pod", "s");
  testing::PagedReader paged(api_, 10'000);
  runtime::InlineParallel parallel;
  const Report report = Drain({paged, api_, parallel, clock_, log_}, options_).run({});
  for (const char* name : {"a", "b", "d"}) EXPECT_EQ(gates_of_job(name).size(), 1U) << name;
  EXPECT_EQ(gates_of("pod"), Json::array());
  ASSERT_EQ(report.remaining.size(), 1U) << report.to_string();
  EXPECT_THAT(report.remaining[0].what, HasSubstr("job default/c: is too long to be read"));
  EXPECT_EQ(report.remaining[0].command, "kubectl -n default edit jobs.batch c");
}

TEST_F(DrainTest, RetriesWhatTheServerCouldNotDo) {
  put_pod("a", "s");
  put(kMutating, "{metadata: {name: tpu-slice-operator}}");
  std::set<std::string> failed;
  api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
    if (failed.insert(call.verb + call.type.resource()).second) return Error::unavailable("no answer");
    return std::nullopt;
  };
  const Report report = run();
  EXPECT_TRUE(report.complete()) << report.to_string();
  EXPECT_EQ(gates_of("a"), Json::array());
}

TEST_F(DrainTest, LeavesPodsThatAreBeingDeleted) {
  put_pod("a", "s", "2026-01-01T00:00:00Z", "{name: tpuslice.dev/slice}",
          ", deletionTimestamp: '2026-01-01T00:00:00Z'");
  EXPECT_TRUE(run().complete());
  EXPECT_EQ(gates_of("a").size(), 1U);
}

TEST_F(DrainTest, OpensTheTemplatesOfSuspendedJobs) {
  put_job("suspended", "suspend: true,");
  const Report report = run();
  EXPECT_TRUE(report.complete()) << report.to_string();
  EXPECT_EQ(gates_of_job("suspended"), Json::parse(R"([{"name": "other"}])"));
  EXPECT_EQ(api_.find(kJobs, {"default", "suspended"})->json()["spec"]["template"]["metadata"]["annotations"],
            Json({{"a", "b"}}));
  EXPECT_THAT(report.templates, ElementsAre(Pair("default", 1U)));
}

TEST_F(DrainTest, ClearsTheStartTimeOfASuspendedJobWhereTheServerDemandsIt) {
  put_job("suspended", "suspend: true,", "startTime: '2026-01-01T00:00:00Z'");
  api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.verb != "patch" || call.type != kJobs) return std::nullopt;
    if (string_at(api_.find(kJobs, call.key)->json(), {"status", "startTime"}).empty()) return std::nullopt;
    return Error::of(ErrorCode::kInvalid, "spec.template: field is immutable");
  };
  const Report report = run();
  EXPECT_TRUE(report.complete()) << report.to_string();
  EXPECT_EQ(gates_of_job("suspended").size(), 1U);
}

TEST_F(DrainTest, NamesRunningJobsWhoseTemplatesCannotChange) {
  put_job("running", "suspend: false,");
  put_job("finished", "", "conditions: [{type: Complete, status: 'True'}]");
  const Report report = run();
  ASSERT_EQ(report.remaining.size(), 1U) << report.to_string();
  EXPECT_THAT(report.remaining[0].what, AllOf(HasSubstr("job default/running: runs"), HasSubstr("gate-policy.yaml")));
  EXPECT_EQ(report.remaining[0].command, "kubectl -n default delete job running");
  EXPECT_EQ(gates_of_job("running").size(), 2U);
}

TEST_F(DrainTest, DoesNotRestartThePodsOfAStatefulSet) {
  const std::string text =
      "{{metadata: {{name: {}, namespace: default}}, spec: {{replicas: {}, updateStrategy: {{type: {}}}, template: "
      "{{spec: {{schedulingGates: [{{name: tpuslice.dev/slice}}]}}}}}}}}";
  put(kStatefulSets, fmt::format(fmt::runtime(text), "rolling", 2, "RollingUpdate"));
  put(kStatefulSets, fmt::format(fmt::runtime(text), "on-delete", 2, "OnDelete"));
  put(kStatefulSets, fmt::format(fmt::runtime(text), "empty", 0, "RollingUpdate"));
  const Report report = run();
  EXPECT_THAT(report.templates, ElementsAre(Pair("default", 2U)));
  ASSERT_EQ(report.remaining.size(), 1U) << report.to_string();
  EXPECT_THAT(report.remaining[0].what, HasSubstr("statefulset default/rolling"));
}

TEST_F(DrainTest, DeletesScoutsAndNoOtherPod) {
  put(kPods, "{metadata: {name: one, namespace: tpu-slice-system, annotations: {tpuslice.dev/scale-up-for: a/b}}}");
  put(kPods, "{metadata: {name: other, namespace: tpu-slice-system}}");
  const Report report = run();
  EXPECT_TRUE(report.complete()) << report.to_string();
  EXPECT_THAT(report.scouts, ElementsAre(Pair("tpu-slice-system", 1U)));
  EXPECT_FALSE(api_.find(kPods, {"tpu-slice-system", "one"}));
  EXPECT_TRUE(api_.find(kPods, {"tpu-slice-system", "other"}));
}

TEST_F(DrainTest, RemovesFinalizersButNotFromAClusterWhoseCleanupIsDue) {
  put(kRayClusters,
      fmt::format("{{metadata: {{name: live, namespace: default, finalizers: [x/y, {}]}}}}", kRedisFinalizer));
  put(kRayClusters, fmt::format("{{metadata: {{name: ending, namespace: default, deletionTimestamp: "
                                "'2026-01-01T00:00:00Z', finalizers: [{}]}}}}",
                                kRedisFinalizer));
  const Report report = run();
  EXPECT_EQ(api_.find(kRayClusters, {"default", "live"})->json()["metadata"]["finalizers"], Json::parse(R"(["x/y"])"));
  EXPECT_EQ(api_.find(kRayClusters, {"default", "ending"})->json()["metadata"]["finalizers"].size(), 1U);
  ASSERT_EQ(report.remaining.size(), 1U) << report.to_string();
  EXPECT_THAT(report.remaining[0].what, HasSubstr("raycluster default/ending: is being deleted"));
  EXPECT_EQ(report.remaining[0].command,
            "kubectl -n default patch rayclusters.ray.io ending --type=merge -p '{\"metadata\":{\"finalizers\":[]}}'");
}

TEST_F(DrainTest, RemovesFinalizersInTheNamespacesThatAreServed) {
  options_.watch_namespaces = {"a", "b", "none"};
  for (const char* space : {"a", "b", "c"}) {
    put(kRayClusters,
        fmt::format("{{metadata: {{name: x, namespace: {}, finalizers: [{}]}}}}", space, kRedisFinalizer));
  }
  (void)run();
  for (const char* space : {"a", "b"}) {
    EXPECT_THAT(api_.find(kRayClusters, {space, "x"})->json()["metadata"]["finalizers"], IsEmpty()) << space;
  }
  EXPECT_EQ(api_.find(kRayClusters, {"c", "x"})->json()["metadata"]["finalizers"].size(), 1U);
}

TEST_F(DrainTest, LeavesFinalizersOfKindsThatAnotherOperatorServes) {
  OperatorOptions options;
  EXPECT_EQ(finalizer_kinds(options).size(), 3U);
  options.controllers = {"*", "-raycluster"};
  EXPECT_THAT(finalizer_kinds(options), IsEmpty());
}

TEST_F(DrainTest, IsCompleteWithoutTheCrds) {
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.type == kRayClusters) return Error::not_found("the server could not find the requested resource");
    return std::nullopt;
  };
  const Report report = run();
  EXPECT_TRUE(report.complete()) << report.to_string();
}

TEST_F(DrainTest, DryRunChangesNothing) {
  options_.steps.dry_run = true;
  put(kMutating, "{metadata: {name: tpu-slice-operator}}");
  put_pod("a", "s");
  put_job("suspended", "suspend: true,");
  put(kPods, "{metadata: {name: one, namespace: tpu-slice-system, annotations: {tpuslice.dev/scale-up-for: a/b}}}");
  put(kRayClusters, fmt::format("{{metadata: {{name: live, namespace: default, finalizers: [{}]}}}}", kRedisFinalizer));
  const Report report = run();
  EXPECT_THAT(api_.writes(), IsEmpty());
  EXPECT_THAT(report.configurations, ElementsAre("MutatingWebhookConfiguration tpu-slice-operator"));
  EXPECT_THAT(report.pods, Contains(Pair("default", 1U)));
  EXPECT_THAT(report.templates, Contains(Pair("default", 1U)));
  EXPECT_THAT(report.scouts, Contains(Pair("tpu-slice-system", 1U)));
  EXPECT_THAT(report.finalizers, Contains(Pair("default", 1U)));
}

}  // namespace
}  // namespace tpuslice::drain
