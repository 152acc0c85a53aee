// An admission policy refuses updates of the pods of one namespace: its slice leaves the only pool to that of another
// namespace, gets the error as its reason, and starts when the policy is gone.
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"
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
constexpr const char* kPolicyName = "pods-stay-as-they-are";
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

  /// And waits until the API server enforces it.
  void refuse_updates_in_default() {
    create(kPolicies, fmt::format(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {}}}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - {{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [pods]}}
  matchConditions:
    - {{name: namespace, expression: request.namespace == "default"}}
  validations:
    - {{expression: "false", message: pods stay as they are}}
)",
                                  kPolicyName));
    create(kPolicyBindings, fmt::format(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {0}}}
spec: {{policyName: {0}, validationActions: [Deny]}}
)",
                                        kPolicyName));
    int attempts = 0;
    const bool enforced = eventually([&] {
      const Json patch = {{"metadata", {{"annotations", {{"example.com/attempt", std::to_string(++attempts)}}}}}};
      const auto pods = slices();
      if (pods.empty()) return false;
      const ObjectKey pod = Object(pods.begin()->second.front()).key();
      const auto patched = client().patch(kPods, pod, client::PatchType::kMerge, patch, {});
      return !patched.ok() && patched.error().message().find("pods stay as they are") != std::string::npos;
    });
    ASSERT_TRUE(enforced);
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
  ASSERT_NO_FATAL_FAILURE(refuse_updates_in_default());
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
  EXPECT_TRUE(eventually([&] {
    return notes_of("FailedPlaceSlice").find("pods stay as they are") != std::string::npos;
  })) << notes_of("FailedPlaceSlice");
  std::string reason;
  EXPECT_TRUE(eventually([&] {
    reason = reason_in_default();
    return reason.starts_with("its pods cannot be changed: ") &&
           reason.find("pods stay as they are") != std::string::npos;
  })) << reason;
  fmt::print("the older one waits: {}\n", reason);
  const double refused = op().metric("rest_client_requests_total", {{"code", "422"}}).value_or(0);
  EXPECT_GE(refused, 1);
  EXPECT_LE(refused, 15) << "with back-off, however often the accelerator is planned";

  remove_policy();
  remove_team_job();
  expect_counts("the policy and the younger slice are gone", {.whole = 1}, 330s);
}

}  // namespace
}  // namespace tpuslice::testing
