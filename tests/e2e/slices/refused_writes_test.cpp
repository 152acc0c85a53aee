// What an admission policy refuses holds back nothing else. Updates of the pods of one namespace: its slice leaves the
// only pool to that of another namespace, gets the error as its reason, and starts when the policy is gone. The new
// template of a LeaderWorkerSet: its groups are restarted nevertheless.
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "tests/e2e/slices/job_manifest.h"
#include "tests/e2e/slices/slice_plane.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTeam = "team";
constexpr const char* kAdmissionGroup = "admissionregistration.k8s.io";
constexpr ResourceType kPolicies{kAdmissionGroup, "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies",
                                 false};
constexpr ResourceType kPolicyBindings{kAdmissionGroup, "v1", "ValidatingAdmissionPolicyBinding",
                                       "validatingadmissionpolicybindings", false};
constexpr const char* kPolicyName = "refused-updates";
constexpr const char* kRefusal = "refused by a policy";
/// A control plane that shares its cores with others.
constexpr Duration kPatience = 120s;

class RefusedWrites : public SlicePlane {
 protected:
  void TearDown() override {
    if (!IsSkipped()) {
      remove_policy();
      remove_team_job();
    }
    SlicePlane::TearDown();
  }

  void create(const ResourceType& type, const std::string& yaml) {
    const auto parsed = parse_yaml(yaml);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message();
    const auto created = client().create(type, Object(*parsed));
    ASSERT_TRUE(created.ok() || created.error().code() == ErrorCode::kAlreadyExists) << created.error().message();
  }

  /// Refuses updates of `resources` in the namespace default where the CEL expression `is_refused` is true.
  void refuse_updates(const std::string& group, const std::string& resources, const std::string& is_refused) {
    create(kPolicies, fmt::format(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {}}}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - {{apiGroups: ["{}"], apiVersions: [v1], operations: [UPDATE], resources: [{}]}}
  matchConditions:
    - {{name: namespace, expression: request.namespace == "default"}}
  validations:
    - {{expression: '!({})', message: {}}}
)",
                                  kPolicyName, group, resources, is_refused, kRefusal));
    create(kPolicyBindings, fmt::format(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {0}}}
spec: {{policyName: {0}, validationActions: [Deny]}}
)",
                                        kPolicyName));
  }
  /// And waits until the API server enforces it.
  void refuse_updates_of_pods() {
    refuse_updates("", "pods", "true");
    int attempts = 0;
    const bool enforced = eventually([&] {
      const Json patch = {{"metadata", {{"annotations", {{"example.com/attempt", std::to_string(++attempts)}}}}}};
      const auto pods = slices();
      if (pods.empty()) return false;
      const ObjectKey pod = Object(pods.begin()->second.front()).key();
      const auto patched = client().patch(kPods, pod, client::PatchType::kMerge, patch, {});
      return !patched.ok() && patched.error().message().find(kRefusal) != std::string::npos;
    });
    ASSERT_TRUE(enforced);
  }
  /// A StatefulSet without pods, with the image that is refused: until its updates are refused, too.
  void wait_until_denied_image_is_refused() {
    create(kStatefulSets, R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: probe, namespace: default}
spec:
  replicas: 0
  selector: {matchLabels: {app: probe}}
  template:
    metadata: {labels: {app: probe}}
    spec: {containers: [{name: c, image: denied}]}
)");
    int attempts = 0;
    const bool enforced = eventually([&] {
      const Json patch = {{"metadata", {{"annotations", {{"example.com/attempt", std::to_string(++attempts)}}}}}};
      const auto patched = client().patch(kStatefulSets, {"default", "probe"}, client::PatchType::kMerge, patch, {});
      return !patched.ok() && patched.error().message().find(kRefusal) != std::string::npos;
    });
    remove(kStatefulSets, "probe");
    ASSERT_TRUE(enforced);
  }
  [[nodiscard]] Json get(const ResourceType& type, const std::string& name) {
    const auto found = client().get(type, {"default", name});
    return found ? found->json() : Json();
  }
  /// "False FailedRollout".
  [[nodiscard]] std::string groups_healthy(const std::string& set) {
    const Json found = get(leaderworkerset::kLeaderWorkerSets, set);
    for (const Json& condition : array_at(found, {"status", "conditions"})) {
      if (string_at(condition, {"type"}) != "tpuslice.dev/GroupsHealthy") continue;
      return string_at(condition, {"status"}) + " " + string_at(condition, {"reason"});
    }
    return {};
  }
  /// The uid of a pod that runs; empty if it does not.
  [[nodiscard]] std::string running(const std::string& name) {
    const Json pod = get(kPods, name);
    const bool runs = string_at(pod, {"status", "phase"}) == "Running";
    return runs && string_at(pod, {"metadata", "deletionTimestamp"}).empty() ? string_at(pod, {"metadata", "uid"}) : "";
  }

  void remove_policy() {
    for (const ResourceType& type : {kPolicyBindings, kPolicies}) {
      const Status removed = client().remove(type, {"", kPolicyName});
      EXPECT_TRUE(removed.ok() || removed.error().code() == ErrorCode::kNotFound) << removed.error().message();
    }
  }
  void remove_team_job() {
    const Status removed = client().remove(kJobs, {kTeam, "young"});
    EXPECT_TRUE(removed.ok() || removed.error().code() == ErrorCode::kNotFound) << removed.error().message();
    EXPECT_TRUE(eventually([&] { return team_pods(false) == 0; })) << "pods are left";
  }

  [[nodiscard]] int team_pods(bool with_node) {
    const auto list = client().list(kPods, {.namespace_name = kTeam}, {});
    if (!list) return -1;
    return static_cast<int>(std::ranges::count_if(list->items, [&](const std::string& text) {
      return !with_node || !string_at(Json::parse(text), {"spec", "nodeName"}).empty();
    }));
  }
  [[nodiscard]] std::string reason_in_default() {
    for (const auto& [slice, pods] : slices()) {
      for (const Json& pod : pods) {
        const std::string reason = string_at(pod, {"metadata", "annotations", tpu::kWaiting});
        if (!reason.empty()) return reason;
      }
    }
    return {};
  }
};

TEST_F(RefusedWrites, OfOneNamespaceLeaveTheOnlyPoolToAnother) {
  cordon_in(kPools);
  create(kNamespaces, fmt::format("{{apiVersion: v1, kind: Namespace, metadata: {{name: {}}}}}", kTeam));
  create_job("old");
  ASSERT_TRUE(eventually([&] { return !reason_in_default().empty(); }, kPatience)) << "it waits, as the first";
  ASSERT_NO_FATAL_FAILURE(refuse_updates_of_pods());
  create(kServices, service_of_job("young", kTeam));
  create(kJobs, job_of_slice("young", kTeam, {}));
  ASSERT_TRUE(eventually([&] { return team_pods(false) == kHosts; }, kPatience));

  const RealClock clock;
  const Instant begin = clock.now();
  cordon_in(1, false);
  ASSERT_TRUE(eventually([&] { return team_pods(true) == kHosts; }, kPatience)) << reason_in_default();
  fmt::print("the younger slice runs {:.1f} s after the pool is free\n",
             std::chrono::duration<double>(clock.now() - begin).count());
  EXPECT_EQ(count(), (SliceCounts{.waiting = 1}));
  EXPECT_TRUE(eventually([&] { return notes_of("FailedPlaceSlice").find(kRefusal) != std::string::npos; }))
      << notes_of("FailedPlaceSlice");
  std::string reason;
  EXPECT_TRUE(eventually([&] {
    reason = reason_in_default();
    return reason.starts_with("its pods cannot be changed: ") && reason.find(kRefusal) != std::string::npos;
  })) << reason;
  fmt::print("the older one waits: {}\n", reason);
  const double refused = op().metric("rest_client_requests_total", {{"code", "422"}}).value_or(0);
  EXPECT_GE(refused, 1);
  EXPECT_LE(refused, 15) << "with back-off, however often the accelerator is planned";

  remove_policy();
  remove_team_job();
  expect_counts("the policy and the younger slice are gone", {.whole = 1}, 330s);
}

TEST_F(RefusedWrites, OfARolloutDoNotHoldBackTheRestartOfAGroup) {
  refuse_updates("apps", "statefulsets", "object.spec.template.spec.containers.exists(c, c.image == \"denied\")");
  ASSERT_NO_FATAL_FAILURE(wait_until_denied_image_is_refused());
  create(leaderworkerset::kLeaderWorkerSets, R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: serve, namespace: default}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 2
    workerTemplate: {spec: {containers: [{name: server, image: allowed}]}}
)");
  ASSERT_TRUE(eventually([&] { return !running("serve-0").empty() && !running("serve-0-1").empty(); }, kPatience));
  const std::string leader = running("serve-0");
  const Json denied = {
      {"spec",
       {{"leaderWorkerTemplate",
         {{"workerTemplate", {{"spec", {{"containers", {{{"name", "server"}, {"image", "denied"}}}}}}}}}}}}};
  const auto updated =
      client().patch(leaderworkerset::kLeaderWorkerSets, {"default", "serve"}, client::PatchType::kMerge, denied, {});
  ASSERT_TRUE(updated.ok()) << updated.error().message();
  ASSERT_TRUE(eventually([&] { return groups_healthy("serve") == "False FailedRollout"; }, kPatience))
      << groups_healthy("serve");

  const RealClock clock;
  const Instant begin = clock.now();
  evict("serve-0-1");
  EXPECT_TRUE(eventually(
      [&] {
        const std::string now = running("serve-0");
        return !now.empty() && now != leader && !running("serve-0-1").empty();
      },
      kPatience));
  fmt::print("the group runs again {:.1f} s after its worker failed\n",
             std::chrono::duration<double>(clock.now() - begin).count());
  EXPECT_EQ(string_at(get(kPods, "serve-0"), {"spec", "containers", "0", "image"}), "allowed");
  EXPECT_EQ(groups_healthy("serve"), "False FailedRollout");
  remove(leaderworkerset::kLeaderWorkerSets, "serve");
  EXPECT_TRUE(eventually([&] { return get(kStatefulSets, "serve").is_null(); }, kPatience));
}

}  // namespace
}  // namespace tpuslice::testing
