#include "controllers/placement/scale_up/provisioning_request.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/placement_reconciler.h"
#include "controllers/placement/scale_up/scouts.h"
#include "tests/support/error_matchers.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/scale_up/request_scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// The view.

ProvisioningRequestView decode(const std::string& conditions) {
  return ProvisioningRequestView::decode(
             R"({"metadata": {"name": "scale-up-1", "namespace": "tpu-system", "uid": "u", "resourceVersion": "3",
                 "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {"tpuslice.dev/scale-up-for": "default/x",
                 "tpuslice.dev/scale-up-accelerator": "tpu-v6e-slice"}},
                 "spec": {"provisioningClassName": "queued-provisioning.gke.io", "podSets": [{"count": 4}]},
                 "status": {"conditions": [)" +
             conditions + "]}}")
      .value();
}
std::string condition(const std::string& type, const std::string& status, const std::string& message = {}) {
  return R"({"type": ")" + type + R"(", "status": ")" + status + R"(", "message": ")" + message + "\"}";
}

TEST(ProvisioningRequestView, HasNameClassAndAnnotations) {
  const ProvisioningRequestView view = decode("");
  EXPECT_EQ(view.key, (ObjectKey{"tpu-system", "scale-up-1"}));
  EXPECT_EQ(view.uid, "u");
  EXPECT_EQ(view.created, start_of_time());
  EXPECT_EQ(view.provisioning_class, kQueuedProvisioningClass);
  EXPECT_EQ(accelerator_of_request(view.annotations), "tpu-v6e-slice");
  EXPECT_EQ(slice_of_request(view.annotations), (ObjectKey{"default", "x"}));
  EXPECT_FALSE(view.provisioned);
  EXPECT_EQ(view.ended, "");
  EXPECT_EQ(view.changed, std::nullopt);
}

TEST(ProvisioningRequestView, IsProvisionedAsItsConditionSays) {
  EXPECT_TRUE(decode(condition("Accepted", "True") + "," + condition("Provisioned", "True", "found")).provisioned);
  const ProvisioningRequestView waits = decode(condition("Provisioned", "False", "not found yet"));
  EXPECT_FALSE(waits.provisioned);
  EXPECT_EQ(waits.message, "not found yet");
  EXPECT_FALSE(decode(condition("Provisioned", "Unknown")).provisioned);
}

TEST(ProvisioningRequestView, HasEndedByTheLastOfItsEnds) {
  for (const char* type : {"Failed", "BookingExpired", "CapacityRevoked"}) {
    EXPECT_EQ(decode(condition(type, "True", "why")).ended, type);
    EXPECT_EQ(decode(condition(type, "True", "why")).message, "why");
    EXPECT_EQ(decode(condition(type, "False")).ended, "");
    EXPECT_EQ(decode(condition(type, "Unknown")).ended, "");
  }
  const std::string expired = condition("BookingExpired", "True", "expired");
  const std::string revoked = condition("CapacityRevoked", "True", "revoked");
  const std::string before = condition("Provisioned", "True", "provisioned");
  for (const std::string& all : {expired + "," + revoked + "," + before, before + "," + revoked + "," + expired}) {
    const ProvisioningRequestView view = decode(all);
    EXPECT_EQ(view.ended, "CapacityRevoked") << all;
    EXPECT_EQ(view.message, "revoked") << all;
    EXPECT_TRUE(view.provisioned) << all;
  }
}

TEST(ProvisioningRequestView, HasTheTimeOfItsLastChange) {
  const auto timed = [](const std::string& type, const std::string& status, const std::string& seconds) {
    return R"({"type": ")" + type + R"(", "status": ")" + status + R"(", "lastTransitionTime": "2026-01-01T00:00:)" +
           seconds + "Z\"}";
  };
  const std::string yes = timed("Provisioned", "True", "10");
  const std::string expired = timed("BookingExpired", "True", "20");
  const std::string revoked = timed("CapacityRevoked", "True", "30");
  EXPECT_EQ(decode(timed("Provisioned", "False", "10")).changed, std::nullopt);
  EXPECT_EQ(decode(timed("Accepted", "True", "10")).changed, std::nullopt);
  EXPECT_EQ(decode(yes).changed, after(10s));
  for (const std::string& all : {yes + "," + expired, expired + "," + yes}) EXPECT_EQ(decode(all).changed, after(20s));
  for (const std::string& all : {expired + "," + revoked + "," + yes, yes + "," + revoked + "," + expired}) {
    EXPECT_EQ(decode(all).changed, after(30s)) << all;
  }
}

TEST(ProvisioningRequestView, ToleratesUnknownMembersAndConditions) {
  const ProvisioningRequestView view = decode(condition("Other", "True", "other") + ", null, {}");
  EXPECT_EQ(view.ended, "");
  EXPECT_EQ(view.message, "");
  EXPECT_THAT(ProvisioningRequestView::decode("{}"), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(ProvisioningRequestView::decode("nonsense"), IsError(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(ProvisioningRequestView::decode(R"({"metadata": {"name": "n", "namespace": "s", "uid": "u",
    "resourceVersion": "1"}, "spec": {}, "status": {}})")
                  .ok());
}

// What is asked for.

TEST(ProvisioningRequests, FollowTheirTemplates) {
  Scene scene{.nodes = lettered_pools(1), .ready = slices_of({a_slice("x").created(1s), a_slice("older")})};
  EXPECT_THAT(decide_requests(scene).created, ElementsAre("PodTemplate x")) << "older gets pool-a";
  scene.provisioning.templates = {a_template("x")};
  const RequestDecisions out = decide_requests(scene);
  EXPECT_THAT(out.created, ElementsAre("ProvisioningRequest x"));
  EXPECT_THAT(out.deleted, IsEmpty());
  EXPECT_EQ(out.notes.at("x"), "; ProvisioningRequest " + name_of("x") + " asks for nodes");
}

TEST(ProvisioningRequests, AskForAllHostsOfTheSlice) {
  Scene scene{.ready = slices_of({a_slice("x").hosts(16)})};
  scene.provisioning.templates = {a_template("x")};
  const Json request = decide_requests(scene).objects.at("ProvisioningRequest x");
  EXPECT_EQ(request.at("apiVersion"), "autoscaling.x-k8s.io/v1");
  EXPECT_EQ(request.at("metadata").at("namespace"), "tpu-system");
  EXPECT_EQ(accelerator_of_request(string_map_at(request, {"metadata", "annotations"})), kV6e);
  EXPECT_EQ(string_at(request, {"spec", "provisioningClassName"}), kCheckCapacityClass);
  EXPECT_EQ(request.at("spec").at("podSets").dump(),
            R"([{"count":16,"podTemplateRef":{"name":")" + scale_up_name({"default", "x"}) + "\"}}]")
      << "GKE allows one pod set";
}

TEST(ProvisioningRequests, DescribeTheHostsByATemplate) {
  const auto tolerates = [](PodView& pod) {
    pod.scheduling.edit().tolerations = {{.key = "google.com/tpu", .effect = "NoSchedule", .exists = true}};
  };
  const Scene scene{.ready = slices_of({a_slice("x").selects("zone", "z1").chips(8).each(tolerates)})};
  const Json object = decide_requests(scene).objects.at("PodTemplate x");
  EXPECT_EQ(object.at("metadata").at("name"), scale_up_name({"default", "x"}));
  const Json& spec = object.at("template").at("spec");
  EXPECT_EQ(spec.at("nodeSelector").at("zone"), "z1");
  EXPECT_EQ(spec.at("tolerations").at(0).at("key"), "google.com/tpu");
  EXPECT_EQ(spec.at("containers").at(0).at("resources").at("limits").at("google.com/tpu"), "8");
  EXPECT_FALSE(spec.at("affinity").contains("podAntiAffinity")) << "the pods are hosts of one slice";
  EXPECT_THAT(object.dump(), Not(HasSubstr("consume-provisioning-request")));
}

TEST(ProvisioningRequests, AskForMissingHostsToo) {
  Scene scene{.ready =
                  slices_of({a_slice("x").hosts(4).start(tpu::kOthersFollowHost0).without(1).without(2).without(3)})};
  scene.provisioning.templates = {a_template("x")};
  EXPECT_EQ(decide_requests(scene).objects.at("ProvisioningRequest x").at("spec").at("podSets").at(0).at("count"), 4);
}

TEST(ProvisioningRequests, AreMadeAsTheOptionsAndTheWorkloadSay) {
  const auto with = [](ScaleUp mode, const std::string& annotation, std::string_view provisioning_class) {
    ScaleUpOptions options = request_options();
    options.mode = mode;
    options.provisioning_class = provisioning_class;
    const SliceBuilder slice = a_slice("x").each([&](PodView& pod) {
      if (!annotation.empty()) pod.annotations[std::string(tpu::kScaleUp)] = annotation;
    });
    return !decide_requests({.ready = slices_of({slice})}, options).created.empty();
  };
  EXPECT_TRUE(with(ScaleUp::kProvisioningRequest, "", kCheckCapacityClass));
  EXPECT_FALSE(with(ScaleUp::kProvisioningRequest, "", ""));
  for (const char* other : {"off", "auto", "scout"}) {
    EXPECT_FALSE(with(ScaleUp::kProvisioningRequest, other, kCheckCapacityClass)) << other;
  }
  EXPECT_FALSE(with(ScaleUp::kOff, "provisioning-request", kCheckCapacityClass)) << "an administrator decided";
  for (const ScaleUp mode : {ScaleUp::kAuto, ScaleUp::kScout}) {
    EXPECT_FALSE(with(mode, "", kCheckCapacityClass));
    EXPECT_TRUE(with(mode, "provisioning-request", kCheckCapacityClass));
    EXPECT_FALSE(with(mode, "provisioning-request", ""));
  }
}

TEST(ProvisioningRequests, AreMadeAfterTheDelay) {
  const auto at = [](Duration now) {
    return decide_requests({.ready = slices_of({a_slice("x").created(10s)}), .now = now});
  };
  EXPECT_THAT(at(15s - 1ms).created, IsEmpty());
  EXPECT_EQ(at(15s - 1ms).changes_at, Duration(15s));
  EXPECT_THAT(at(15s).created, SizeIs(1));
}

TEST(ProvisioningRequests, AreNotForPodsThatAutoscalersIgnore) {
  EXPECT_THAT(decide_requests({.ready = slices_of({a_slice("x").priority(-11)})}).created, IsEmpty());
}

TEST(ProvisioningRequests, AreNotMadeForQueuedNodesThatThePodsDoNotTolerate) {
  const auto tolerates = [](PodView& pod) {
    pod.scheduling.edit().tolerations = {
        {.key = "cloud.google.com/gke-queued", .effect = "NoSchedule", .exists = true}};
  };
  ScaleUpOptions options = request_options();
  options.provisioning_class = kQueuedProvisioningClass;
  const RequestDecisions out =
      decide_requests({.ready = slices_of({a_slice("x"), a_slice("y").each(tolerates)})}, options);
  EXPECT_THAT(out.created, ElementsAre("PodTemplate y"));
  EXPECT_THAT(out.notes.at("x"), HasSubstr("nothing is asked for: nodes of class queued-provisioning.gke.io have the "
                                           "taint cloud.google.com/gke-queued=true:NoSchedule"));
}

// Plans.

const PlacementOptions kRequestPlans{.scale_up = request_options()};

/// A stage that deletes the request of a slice and its template.
auto deletes_of_request(const std::string& slice) {
  const std::string name = scale_up_name({"default", slice});
  return ::testing::UnorderedElementsAre("delete ProvisioningRequest " + name, "delete PodTemplate " + name);
}

TEST(RequestPlans, ReachAFixpointAndLetTheSliceGoOncePlaced) {
  PlacementScene seen = observed({}, {a_slice("x")}, 1min);
  const plan::Plan first = plan_placement(seen, kRequestPlans);
  EXPECT_THAT(first.reason, HasSubstr("PodTemplate " + name_of("x") + " is created"));
  apply_plan(
      [&] {
        plan::Plan pods_only = first;
        for (plan::Stage& stage : pods_only.stages) {
          std::erase_if(stage.actions, [](const plan::Action& action) { return action.type != kPods; });
        }
        return pods_only;
      }(),
      seen.pods, seen.now);
  seen.provisioning.templates = {a_template("x")};
  const plan::Plan second = plan_placement(seen, kRequestPlans);
  EXPECT_THAT(second.reason, HasSubstr("ProvisioningRequest " + name_of("x") + " is created"));
  const auto counted = [](const plan::Plan& plan) {
    return std::ranges::count_if(measurements_of(plan),
                                 [](const plan::Measurement& each) { return each.name == "tpuslice_scale_ups_total"; });
  };
  EXPECT_EQ(counted(first), 0) << "templates do not count";
  EXPECT_EQ(counted(second), 1);
  seen.provisioning.requests = {a_request("x")};
  const plan::Plan third = plan_placement(seen, kRequestPlans);
  EXPECT_TRUE(third.empty()) << plan::to_json(third).dump(2);

  seen.nodes = a_pool("pool-new").nodes();
  const plan::Plan last = plan_placement(seen, kRequestPlans);
  EXPECT_THAT(stages_of(last), ElementsAre(deletes_of_request("x"), ElementsAre("patch Pod x-0")))
      << "before the nodes are used";
  EXPECT_THAT(last.reason, HasSubstr("slice x of 2 hosts is placed in node pool pool-new"));
}

TEST(RequestPlans, ExplainAProvisionedRequestWithoutDomainOnce) {
  PlacementScene seen = observed({}, {a_slice("x")}, 15min - 1s);
  seen.provisioning = {.requests = {a_request("x", provisioned())}, .templates = {a_template("x")}};
  plan::Plan plan = plan_placement(seen, kRequestPlans);
  apply_plan(plan, seen.pods, seen.now);
  plan = plan_placement(seen, kRequestPlans);
  EXPECT_TRUE(plan.empty()) << plan::to_json(plan).dump(2);
  EXPECT_EQ(plan.requeue_after, Duration(1s));
  seen.now = after(15min);
  plan = plan_placement(seen, kRequestPlans);
  EXPECT_THAT(plan.reason, HasSubstr("the slice has no node pool after 900 s"));
  apply_plan(plan, seen.pods, seen.now);
  seen.now = after(1h);
  plan = plan_placement(seen, kRequestPlans);
  EXPECT_TRUE(plan.empty()) << plan::to_json(plan).dump(2);
}

TEST(RequestPlans, DeleteWhatIsLeftOfASliceThatIsGone) {
  PlacementScene seen = observed({a_pool("pool-a")}, {}, 1min);
  seen.provisioning = {.requests = {a_request("gone")}, .templates = {a_template("gone")}};
  const plan::Plan plan = plan_placement(seen, kRequestPlans);
  EXPECT_THAT(stages_of(plan), ElementsAre(deletes_of_request("gone")));
}

TEST(RequestIndexes, AreByAccelerator) {
  EXPECT_EQ(request_accelerator(*a_request("x")), kV6e);
  EXPECT_EQ(template_accelerator(*a_template("x")), kV6e);
  EXPECT_EQ(request_accelerator(ProvisioningRequestView{}), std::nullopt) << "of others, such as Kueue's";
  EXPECT_EQ(template_accelerator(MetadataView{}), std::nullopt);
}

}  // namespace
}  // namespace tpuslice::placement
