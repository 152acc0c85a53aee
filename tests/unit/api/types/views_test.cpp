#include "api/types/views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "api/base/random.h"
#include "tests/support/error_matchers.h"
#include "tests/unit/api/types/sample_pod.h"

namespace tpuslice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

/// Prints a document with the members of every object in random order.
std::string shuffled(const Json& json, Random& random) {
  if (!json.is_structured()) return json.dump();
  std::vector<std::string> parts;
  for (auto item = json.begin(); item != json.end(); ++item) {
    const std::string name = json.is_object() ? Json(item.key()).dump() + " : " : "";
    parts.push_back(name + shuffled(*item, random));
  }
  if (json.is_object()) {
    for (std::size_t i = parts.size(); i > 1; --i)
      std::swap(parts[i - 1], parts[random.uniform<std::size_t>(0, i - 1)]);
  }
  const std::string body = fmt::format("{}", fmt::join(parts, " ,\n"));
  return json.is_object() ? "{" + body + "}" : "[" + body + "]";
}

TEST(PodView, KeepsTheFieldsThatControllersRead) {
  const KeptKeys keep = {"tpuslice.dev/", "ray.io/", "quote"};
  const PodView pod = PodView::decode(kSamplePod, &keep).value();
  EXPECT_EQ(pod.key.to_string(), "default/train-workers-0-1");
  EXPECT_EQ(pod.uid, "0b5ac7e2-4f0e-4c5d-9e53-6a5be0d5a7f1");
  EXPECT_EQ(pod.resource_version, "4711");
  EXPECT_EQ(pod.generation, 2);
  EXPECT_EQ(pod.created, parse_rfc3339("2026-01-01T00:00:05Z"));
  EXPECT_TRUE(pod.terminating());
  EXPECT_EQ(pod.label("ray.io/cluster"), "train");
  EXPECT_EQ(pod.label("quote\"d"), "sl\u00e4sh");
  EXPECT_EQ(pod.label("absent"), "");
  EXPECT_THAT(pod.annotations, ElementsAre(Pair("tpuslice.dev/slice-hosts", "4")));
  EXPECT_EQ(pod.controller, (ControllerRef{"ray.io/v1", "RayCluster", "train", "u1"}));
  EXPECT_EQ(pod.node_name, "node-7");
  EXPECT_EQ(pod.restart_policy, "Never");
  EXPECT_THAT(pod.scheduling->gates, ElementsAre("tpuslice.dev/slice"));
}

constexpr std::string_view kPodWithoutNode = R"({
  "metadata": {"name": "p", "uid": "u"},
  "spec": {
    "priority": 100,
    "nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"},
    "tolerations": [{"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"},
                    {"key": "team", "value": "a"}],
    "affinity": {
      "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "t"}]},
      "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}],
        "requiredDuringSchedulingIgnoredDuringExecution":
          {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]}}}NODE
  },
  "status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                             "message": "0/3 nodes are available"}]}
})";

std::string with_node(const std::string& node) {
  std::string text(kPodWithoutNode);
  return text.replace(text.find("NODE"), 4, node);
}

TEST(PodView, KeepsTheNodeRequirementsOfAnUnboundPod) {
  const PodView pod = PodView::decode(with_node("")).value();
  EXPECT_EQ(pod.priority, 100);
  EXPECT_THAT(pod.scheduling->node_selector,
              ElementsAre(Pair("cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice")));
  EXPECT_THAT(pod.scheduling->tolerations, ElementsAre(TolerationView{"google.com/tpu", "", "NoSchedule", true},
                                                       TolerationView{"team", "a", "", false}));
  EXPECT_EQ(
      parse_json(pod.scheduling->node_affinity).value(),
      parse_json(R"({"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]})").value());
  EXPECT_EQ(parse_json(pod.scheduling->preferred_affinity).value(),
            parse_json(R"([{"weight": 1, "preference": {}}])").value());
  EXPECT_EQ(pod.unschedulable, "0/3 nodes are available");
}

TEST(PodView, DropsTheNodeRequirementsOfABoundPod) {
  const PodView pod = PodView::decode(with_node(R"(, "nodeName": "n")")).value();
  EXPECT_EQ(pod.node_name, "n");
  EXPECT_THAT(pod.scheduling->tolerations, IsEmpty());
  EXPECT_EQ(pod.scheduling->node_affinity, "");
  EXPECT_EQ(pod.scheduling->preferred_affinity, "");
  EXPECT_EQ(pod.unschedulable, "");
  EXPECT_EQ(pod.scheduling->node_selector.size(), 1U) << "slice placement reads it";
}

TEST(PodView, ReportsRestartsOfAnyContainer) {
  const auto restarted = [](const std::string& status) {
    return PodView::decode(R"({"metadata":{"name":"p","uid":"u"},"status":)" + status + "}")->restarted;
  };
  EXPECT_FALSE(restarted(R"({})"));
  EXPECT_FALSE(restarted(R"({"containerStatuses":[{"restartCount":0}],"initContainerStatuses":[{"restartCount":0}]})"));
  EXPECT_TRUE(restarted(R"({"containerStatuses":[{"restartCount":0},{"restartCount":2}]})"));
  EXPECT_TRUE(restarted(R"({"initContainerStatuses":[{"restartCount":1}],"containerStatuses":[{"restartCount":0}]})"));
}

TEST(PodView, ReportsAContainerThatCannotStart) {
  const auto stuck = [](std::string_view containers, std::string_view init = "[]") {
    return PodView::decode(fmt::format(
                               R"({{"metadata": {{"name": "p", "uid": "u"}},
                                   "status": {{"containerStatuses": {}, "initContainerStatuses": {}}}}})",
                               containers, init))
        ->stuck;
  };
  const auto waiting = [](std::string_view name, std::string_view reason, std::string_view message = "") {
    return fmt::format(R"([{{"name": "{}", "state": {{"waiting": {{"reason": "{}", "message": "{}"}}}}}}])", name,
                       reason, message);
  };
  EXPECT_EQ(stuck(R"([{"name": "main", "state": {"running": {}}}])"), "");
  EXPECT_EQ(stuck(R"([{"name": "main", "state": {"waiting": {}}}])"), "");
  EXPECT_EQ(stuck(waiting("main", "ContainerCreating")), "");
  EXPECT_EQ(stuck(waiting("main", "CreateContainerConfigError", "secret a not found")),
            "container main: CreateContainerConfigError: secret a not found");
  EXPECT_EQ(stuck(waiting("main", "PodInitializing"), waiting("first", "InvalidImageName")),
            "container first: InvalidImageName");
  const std::string pulls = stuck(waiting("main", "ErrImagePull", "not found"));
  EXPECT_EQ(pulls, "container main: ImagePullBackOff");
  EXPECT_EQ(stuck(waiting("main", "ImagePullBackOff", "Back-off pulling image")), pulls)
      << "both reasons alternate while a pull fails";
  EXPECT_EQ(stuck(waiting("main", "CrashLoopBackOff", "back-off 20s")), "container main: CrashLoopBackOff");
  EXPECT_EQ(stuck(R"([{"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 20s"}},
                       "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}])"),
            "container main: CrashLoopBackOff: OOMKilled, exit code 137");
  EXPECT_EQ(stuck(waiting("main", "CreateContainerError", std::string(1000, 'm'))),
            "container main: CreateContainerError: " + std::string(256, 'm') + "...");
}

TEST(PodView, ReportsHowAContainerFailed) {
  const auto failure = [](const std::string& status) {
    return PodView::decode(R"({"metadata": {"name": "p", "uid": "u"}, "status": {)" + status + "}}")->failure;
  };
  const std::string main = R"("containerStatuses": [{"name": "main", "state": {"terminated": )";
  EXPECT_EQ(failure(main + R"({"reason": "Completed", "exitCode": 0}}}])"), "");
  EXPECT_EQ(
      failure(main + R"({"reason": "StartError", "exitCode": 128, "message": "exec: \"python\": not found\n"}}}])"),
      "container main: StartError, exit code 128: exec: \"python\": not found");
  EXPECT_EQ(failure(main + R"({"exitCode": 3}}}])"), "container main: Error, exit code 3");
  EXPECT_EQ(failure(main + R"({"reason": "Error", "exitCode": 1, "message": ")" + std::string(1000, 'm') + R"("}}}])"),
            "container main: Error, exit code 1: " + std::string(256, 'm') + "...");
  EXPECT_EQ(failure(R"("containerStatuses": [{"name": "main", "state": {"running": {}},
                       "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}])"),
            "container main: OOMKilled, exit code 137")
      << "also when it runs again";
  EXPECT_EQ(failure(R"("initContainerStatuses": [{"name": "first", "state": {"terminated": {"exitCode": 0}},
                       "lastState": {"terminated": {"reason": "Error", "exitCode": 2}}}], )" +
                    main + R"({"reason": "Error", "exitCode": 1}}}])"),
            "container main: Error, exit code 1")
      << "the other one succeeded in the end";
}

TEST(PodView, KeepsWhatKubeSchedulerReportsInsteadOfMissingNodes) {
  const auto decode = [](const std::string& condition, const std::string& spec = "") {
    return PodView::decode(R"({"metadata": {"name": "p", "uid": "u"}, "spec": {)" + spec +
                           R"(}, "status": {"conditions": [{"type": "PodScheduled", "status": "False", )" + condition +
                           "}]}}")
        .value();
  };
  const std::string error = R"("reason": "SchedulerError", "message": "no such claim")";
  EXPECT_EQ(decode(error).scheduling_error, "SchedulerError: no such claim");
  EXPECT_EQ(decode(error).unschedulable, "");
  EXPECT_EQ(decode(R"("reason": "SchedulerError")").scheduling_error, "SchedulerError");
  EXPECT_EQ(decode(R"("reason": "SchedulingGated", "message": "m")").scheduling_error, "");
  EXPECT_EQ(decode(R"("reason": "Unschedulable", "message": "m")").scheduling_error, "");
  EXPECT_EQ(decode(error, R"("nodeName": "n")").scheduling_error, "");
}

TEST(PodView, KeepsTheTemplatesOfTheClaimsOfAnUnboundPod) {
  const auto templates = [](const std::string& node) {
    return PodView::decode(R"({"metadata": {"name": "p", "uid": "u"}, "spec": {"resourceClaims": [
               {"name": "a", "resourceClaimTemplateName": "tpu"}, {"name": "b", "resourceClaimName": "mine"},
               {"name": "c", "resourceClaimTemplateName": "net"}])" +
                           node + "}}")
        ->scheduling->resource_claims;
  };
  EXPECT_EQ(templates(""),
            "spec.resourceClaims[0].resourceClaimTemplateName tpu, spec.resourceClaims[1].resourceClaimName mine, "
            "spec.resourceClaims[2].resourceClaimTemplateName net");
  EXPECT_EQ(templates(R"(, "nodeName": "n")"), "");
}

TEST(PodView, IsNeitherReadyNorNotReadyWithoutTheCondition) {
  const auto decode = [](const std::string& conditions) {
    return PodView::decode(R"({"metadata": {"name": "p", "uid": "u"}, "status": {"conditions": [)" + conditions + "]}}")
        .value();
  };
  EXPECT_FALSE(decode("").ready);
  EXPECT_FALSE(decode("").not_ready);
  EXPECT_FALSE(decode(R"({"type": "Initialized", "status": "False"})").not_ready);
  EXPECT_TRUE(decode(R"({"type": "Ready", "status": "False"})").not_ready);
  EXPECT_TRUE(decode(R"({"type": "Ready", "status": "Unknown"})").not_ready);
  EXPECT_FALSE(decode(R"({"type": "Ready", "status": "True"})").not_ready);
}

TEST(PodView, HasAnOwnerThatIsNoController) {
  const auto decode = [](const std::string& owners) {
    return PodView::decode(R"({"metadata": {"name": "p", "uid": "u", "ownerReferences": [)" + owners + "]}}").value();
  };
  EXPECT_FALSE(decode("").has_owner);
  const PodView owned = decode(R"({"kind": "Set", "name": "s", "uid": "1"})");
  EXPECT_TRUE(owned.has_owner);
  EXPECT_FALSE(owned.controller);
}

std::int64_t chips_of(const PodView& pod) { return amount_of(pod.scheduling->resources, "google.com/tpu"); }

TEST(PodView, CountsExtendedResourcesAsKubeScheduler) {
  EXPECT_EQ(chips_of(PodView::decode(kSamplePod).value()), 64) << "of the init container, which runs before the others";
  const auto chips = [](const std::string& init) {
    return chips_of(PodView::decode(R"({"metadata": {"name": "p", "uid": "u"}, "spec": {"initContainers": [)" + init +
                                    R"(], "containers": [{"resources": {"limits": {"google.com/tpu": 4}}}]}})")
                        .value());
  };
  EXPECT_EQ(chips(R"({"resources": {"limits": {"google.com/tpu": 2}}})"), 4);
  const std::string sidecar = R"({"restartPolicy": "Always", "resources": {"limits": {"google.com/tpu": 2}}})";
  const std::string init = R"({"resources": {"limits": {"google.com/tpu": 5}}})";
  EXPECT_EQ(chips(sidecar), 6);
  EXPECT_EQ(chips(sidecar + "," + init), 7) << "the sidecar runs already";
  EXPECT_EQ(chips(init + "," + sidecar), 6);
}

TEST(PodView, CountsRequestsAsKubeScheduler) {
  const auto requests = [](const std::string& members) {
    return PodView::decode(R"({"metadata": {"name": "p", "uid": "u"}, "spec": {)" + members + R"(
        "containers": [{"resources": {"requests": {"cpu": "1500m", "memory": "1Gi", "example.com/a": 1},
                                      "limits": {"cpu": 8, "ephemeral-storage": "5Gi"}}},
                       {"resources": {"requests": {"cpu": 2}}}]}})")
        .value()
        .scheduling->requests;
  };
  constexpr std::int64_t kGi = 1LL << 30;
  EXPECT_THAT(requests(""), ElementsAre(ResourceAmount{"cpu", 3500}, ResourceAmount{"memory", kGi}));
  EXPECT_THAT(requests(R"("initContainers": [{"resources": {"requests": {"memory": "4Gi"}}}],)"),
              ElementsAre(ResourceAmount{"cpu", 3500}, ResourceAmount{"memory", 4 * kGi}));
  EXPECT_THAT(requests(R"("resources": {"requests": {"cpu": 3}, "limits": {"memory": "9Gi"}},
                          "overhead": {"cpu": "250m", "ephemeral-storage": "1Gi", "pods": 1},)"),
              ElementsAre(ResourceAmount{"cpu", 3250}, ResourceAmount{"ephemeral-storage", kGi},
                          ResourceAmount{"memory", kGi}));
  EXPECT_THAT(requests(R"("nodeName": "n",)"), IsEmpty()) << "it has a node";
}

TEST(PodView, KeepsTheExtendedResourcesThatItIsAskedTo) {
  constexpr std::string_view kPod = R"({"metadata": {"name": "p", "uid": "u"}, "spec": {"containers": [
      {"resources": {"limits": {"google.com/tpu": 4, "cpu": 2, "example.com/none": 0, "example.com/a": 1}}},
      {"resources": {"limits": {"google.com/tpu": "4"}, "requests": {"example.com/b": 1}}}]}})";
  const KeptKeys keep = {"example.com/", "google.com/tpu"};
  EXPECT_THAT(PodView::decode(kPod, &keep)->scheduling->resources, ElementsAre(ResourceAmount{"google.com/tpu", 8}))
      << "a prefix is not a name";
  EXPECT_THAT(PodView::decode(kPod)->scheduling->resources,
              ElementsAre(ResourceAmount{"example.com/a", 1}, ResourceAmount{"google.com/tpu", 8}));
}

TEST(PodView, KeepsStatus) {
  const PodView pod = PodView::decode(kSamplePod).value();
  EXPECT_EQ(pod.phase, PodPhase::kRunning);
  EXPECT_FALSE(pod.finished());
  EXPECT_FALSE(pod.ready);
  EXPECT_TRUE(pod.not_ready);
  EXPECT_EQ(pod.ready_reason, "ContainersNotReady");
  EXPECT_EQ(pod.ready_message, "side is not ready");
  EXPECT_EQ(pod.reason, "Evicted");
  EXPECT_EQ(pod.pod_ip, "10.0.0.9");
  ASSERT_EQ(pod.containers.size(), 3U);
  ContainerView worker;
  worker.name = "worker";
  worker.ready = true;
  worker.restarts = 3;
  EXPECT_EQ(pod.containers[0], worker);
  ContainerView side;
  side.name = "side";
  side.waiting_reason = "ImagePullBackOff";
  side.waiting_message = "no such image";
  EXPECT_EQ(pod.containers[1], side);
  ContainerView none;
  none.name = "none";
  none.restarts = 1;
  none.terminated = true;
  none.terminated_reason = "Error";
  none.terminated_message = "boom";
  none.exit_code = 1;
  EXPECT_EQ(pod.containers[2], none);
  EXPECT_EQ(pod.failure, "container none: Error, exit code 1: boom");
}

TEST(PodView, DoesNotDependOnTheOrderOfMembers) {
  const PodView expected = PodView::decode(kSamplePod).value();
  const Json document = parse_json(kSamplePod).value();
  Random random(11);
  for (int i = 0; i < 50; ++i) {
    const std::string text = shuffled(document, random);
    const Result<PodView> pod = PodView::decode(text);
    ASSERT_TRUE(pod.ok()) << pod.error().message() << text;
    EXPECT_EQ(*pod, expected) << text;
  }
  EXPECT_EQ(PodView::from_json(document).value(), expected);
}

TEST(PodView, TreatsNullAsAbsent) {
  const auto pod = PodView::decode(
      R"({"metadata":{"name":"a","uid":"u","creationTimestamp":null,"labels":null,"ownerReferences":null},
          "spec":{"containers":null,"nodeName":null},"status":null})");
  ASSERT_TRUE(pod.ok()) << pod.error().message();
  EXPECT_EQ(pod->phase, PodPhase::kPending);
  EXPECT_EQ(pod->created, std::nullopt);
}

struct InvalidPod {
  const char* name;
  std::string text;
  const char* expected_error;
};

TEST(PodView, RefusesInvalidInputWithAReason) {
  const std::string deep(100'000, '[');
  const std::vector<InvalidPod> cases = {
      {"empty", "", "pod cannot be decoded"},
      {"blank", "   ", "pod cannot be decoded"},
      {"array", "[]", "pod cannot be decoded"},
      {"text", "\"pod\"", "pod cannot be decoded"},
      {"number", "1", "pod cannot be decoded"},
      {"truncated", std::string(kSamplePod.substr(0, 500)), "pod cannot be decoded"},
      {"open string", R"({"metadata":{"name":"a)", "pod cannot be decoded"},
      {"trailing text", R"({"metadata":{"name":"a","uid":"u"}} {})", "pod is"},
      {"no name", R"({"metadata":{"uid":"u"}})", "pod has no metadata.name"},
      {"no uid", R"({"metadata":{"name":"a","namespace":"n"}})", "pod n/a has no metadata.uid"},
      {"no metadata", "{}", "pod has no metadata.name"},
      {"metadata is text", R"({"metadata":"a"})", ": .metadata"},
      {"name is a number", R"({"metadata":{"name":1,"uid":"u"}})", ": .metadata"},
      {"labels are a list", R"({"metadata":{"name":"a","uid":"u","labels":[]}})", ": .metadata"},
      {"time is none", R"({"metadata":{"name":"a","uid":"u","deletionTimestamp":"soon"}})",
       "\"soon\" is not an RFC 3339 time"},
      {"chips are none", R"({"spec":{"containers":[{"resources":{"limits":{"google.com/tpu":"four"}}}]}})", ": .spec"},
      {"chips are a list", R"({"spec":{"containers":[{"resources":{"limits":{"google.com/tpu":[]}}}]}})", ": .spec"},
      {"ready is text", R"({"status":{"containerStatuses":[{"ready":"yes"}]}})", ": .status"},
      {"restarts too many", R"({"status":{"containerStatuses":[{"restartCount":3000000000}]}})", "not an int32"},
      {"deep", deep, "pod cannot be decoded"},
      {"deep inside", R"({"spec":)" + deep, "pod cannot be decoded"},
      {"deep in a known place", R"({"spec":{"containers":)" + deep + "}}", "pod cannot be decoded"},
      {"bad escape", R"({"metadata":{"name":"\x","uid":"u"}})", "pod cannot be decoded"},
      {"NUL", std::string("{\0}", 3), "pod cannot be decoded"},
  };
  for (const InvalidPod& invalid : cases) {
    const Result<PodView> pod = PodView::decode(invalid.text);
    EXPECT_THAT(pod, IsError(ErrorCode::kInvalidArgument, HasSubstr(invalid.expected_error))) << invalid.name;
  }
}

TEST(PodView, DecodesAfterAnError) {
  EXPECT_THAT(PodView::decode("{"), IsError(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(PodView::decode(kSamplePod).ok());
}

constexpr std::string_view kNode = R"({
  "status": {"allocatable": {"cpu": "8", "google.com/tpu": "4"}, "capacity": {"google.com/tpu": "8"},
             "conditions": [{"type": "MemoryPressure", "status": "True"}, {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:07Z"}]},
  "spec": {"unschedulable": true, "taints": [{"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"}]},
  "metadata": {"name": "node-1", "uid": "n1", "resourceVersion": "5",
               "labels": {"cloud.google.com/gke-nodepool": "pool-a"}}})";

TEST(NodeView, KeepsTheFieldsThatPlacementReads) {
  const NodeView node = NodeView::decode(kNode).value();
  EXPECT_EQ(node.key, (ObjectKey{"", "node-1"}));
  EXPECT_TRUE(node.ready);
  EXPECT_EQ(node.ready_changed, parse_rfc3339("2026-01-01T00:00:07Z"));
  EXPECT_TRUE(node.unschedulable);
  EXPECT_THAT(*node.allocatable, ElementsAre(ResourceAmount{"cpu", 8000}, ResourceAmount{"google.com/tpu", 4}));
  EXPECT_EQ(node.labels.at("cloud.google.com/gke-nodepool"), "pool-a");
  EXPECT_THAT(node.taints, ElementsAre(NodeTaint{"google.com/tpu", "present", "NoSchedule"}));
  EXPECT_EQ(NodeView::from_json(parse_json(kNode).value()).value(), node);
}

TEST(NodeView, ErrorsNameTheKind) { EXPECT_EQ(NodeView::decode("{}").error().message(), "node has no metadata.name"); }

TEST(ObjectView, KeepsTheWholeObjectExceptManagedFields) {
  const ObjectView view = ObjectView::decode(kSamplePod).value();
  EXPECT_EQ(view.key.to_string(), "default/train-workers-0-1");
  EXPECT_EQ(view.controller->kind, "RayCluster");
  EXPECT_EQ(view.labels.at("ray.io/cluster"), "train");
  EXPECT_TRUE(view.deletion.has_value());
  EXPECT_EQ(find_path(view.object().json(), {"metadata", "managedFields"}), nullptr);
  EXPECT_EQ(string_at(view.object().json(), {"spec", "containers", "0", "name"}), "worker");
}

TEST(ObjectView, RefusesOtherJson) {
  EXPECT_EQ(ObjectView::decode("[]").error().message(), "object is a JSON array, must be an object");
  EXPECT_EQ(ObjectView::decode(R"({"metadata":3})").error().message(), "object has no metadata.name");
  EXPECT_THAT(ObjectView::decode(std::string(100'000, '[')), IsError(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace tpuslice
