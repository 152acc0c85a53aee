#include "controllers/slice/provisioning_request.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/utf8.h"
#include "controllers/slice/reconcilers.h"
#include "controllers/slice/scout_pod.h"
#include "tests/unit/controllers/slice/decisions.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

std::string name_of(const std::string& slice) { return "tpu-system/" + scout_name({"default", slice}); }

RequestChange ended(const std::string& condition, const std::string& message = {}) {
  return [=](ProvisioningRequestView& request) {
    request.ended = condition;
    request.message = message;
  };
}
RequestChange provisioned(std::string_view provisioning_class = kCheckCapacityClass) {
  return [=](ProvisioningRequestView& request) {
    request.provisioned = true;
    request.provisioning_class = provisioning_class;
  };
}
RequestChange of_class(std::string_view provisioning_class) {
  return [=](ProvisioningRequestView& request) { request.provisioning_class = provisioning_class; };
}

/// Slice x waits, and this is its request.
Scene waiting_with(const RequestChange& change, Duration now = 1min) {
  return {.ready = slices_of({a_slice("x")}),
          .now = now,
          .provisioning = {.requests = {a_request("x", change)}, .templates = {a_template("x")}}};
}

// The view.

ProvisioningRequestView decode(const std::string& conditions) {
  return ProvisioningRequestView::decode(
             R"({"metadata": {"name": "scout-1", "namespace": "tpu-system", "uid": "u", "resourceVersion": "3",
                 "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {"tpuslice.dev/scout-for": "default/x",
                 "tpuslice.dev/scout-accelerator": "tpu-v6e-slice"}},
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
  EXPECT_EQ(view.key, (ObjectKey{"tpu-system", "scout-1"}));
  EXPECT_EQ(view.uid, "u");
  EXPECT_EQ(view.created, start_of_time());
  EXPECT_EQ(view.provisioning_class, kQueuedProvisioningClass);
  EXPECT_EQ(accelerator_of_request(view.annotations), "tpu-v6e-slice");
  EXPECT_EQ(slice_of_request(view.annotations), (ObjectKey{"default", "x"}));
  EXPECT_FALSE(view.provisioned);
  EXPECT_EQ(view.ended, "");
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

TEST(ProvisioningRequestView, ToleratesUnknownMembersAndConditions) {
  const ProvisioningRequestView view = decode(condition("Other", "True", "other") + ", null, {}");
  EXPECT_EQ(view.ended, "");
  EXPECT_EQ(view.message, "");
  EXPECT_FALSE(ProvisioningRequestView::decode("{}").ok());
  EXPECT_FALSE(ProvisioningRequestView::decode("nonsense").ok());
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
            R"([{"count":16,"podTemplateRef":{"name":")" + scout_name({"default", "x"}) + "\"}}]")
      << "GKE allows one pod set";
}

TEST(ProvisioningRequests, DescribeTheHostsByATemplate) {
  const auto tolerates = [](PodView& pod) {
    pod.tolerations = {{.key = "google.com/tpu", .effect = "NoSchedule", .exists = true}};
  };
  const Scene scene{.ready = slices_of({a_slice("x").selects("zone", "z1").chips(8).each(tolerates)})};
  const Json object = decide_requests(scene).objects.at("PodTemplate x");
  EXPECT_EQ(object.at("metadata").at("name"), scout_name({"default", "x"}));
  const Json& spec = object.at("template").at("spec");
  EXPECT_EQ(spec.at("nodeSelector").at("zone"), "z1");
  EXPECT_EQ(spec.at("tolerations").at(0).at("key"), "google.com/tpu");
  EXPECT_EQ(spec.at("containers").at(0).at("resources").at("limits").at("google.com/tpu"), "8");
  EXPECT_FALSE(spec.at("affinity").contains("podAntiAffinity")) << "the pods are hosts of one slice";
  EXPECT_THAT(object.dump(), Not(HasSubstr("consume-provisioning-request")));
}

TEST(ProvisioningRequests, AskForMissingHostsToo) {
  Scene scene{.ready = slices_of({a_slice("x").hosts(4).start(tpu::kFirstHostFirst).without(1).without(2).without(3)})};
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
  for (const ScaleUp mode : {ScaleUp::kOff, ScaleUp::kAuto, ScaleUp::kScout}) {
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
    pod.tolerations = {{.key = "cloud.google.com/gke-queued", .effect = "NoSchedule", .exists = true}};
  };
  ScaleUpOptions options = request_options();
  options.provisioning_class = kQueuedClass;
  const RequestDecisions out =
      decide_requests({.ready = slices_of({a_slice("x"), a_slice("y").each(tolerates)})}, options);
  EXPECT_THAT(out.created, ElementsAre("PodTemplate y"));
  EXPECT_THAT(out.notes.at("x"), HasSubstr("nothing is asked for: nodes of class queued-provisioning.gke.io have the "
                                           "taint cloud.google.com/gke-queued=true:NoSchedule"));
}

// Requests that exist.

TEST(ExistingRequest, IsKeptAndExplained) {
  const RequestDecisions asks = decide_requests(waiting_with({}));
  EXPECT_THAT(asks.created, IsEmpty());
  EXPECT_THAT(asks.deleted, IsEmpty());
  EXPECT_EQ(asks.notes.at("x"), "; ProvisioningRequest " + name_of("x") + " asks for nodes");
  const RequestDecisions waits = decide_requests(
      waiting_with([](ProvisioningRequestView& request) { request.message = "Capacity is not found"; }, 24h));
  EXPECT_THAT(waits.deleted, IsEmpty()) << "queued requests may wait for days";
  EXPECT_EQ(waits.notes.at("x"), "; ProvisioningRequest " + name_of("x") + " asks for nodes: Capacity is not found");
  EXPECT_THAT(decide_requests(waiting_with(provisioned())).notes.at("x"), HasSubstr(" is provisioned"));
}

TEST(ExistingRequest, HasAShortNote) {
  const RequestDecisions out = decide_requests(
      waiting_with([](ProvisioningRequestView& request) { request.message = std::string(30'000, 'm'); }));
  EXPECT_LT(out.notes.at("x").size(), 400U);
}

TEST(ExistingRequest, HasANoteOfWholeCharacters) {
  const RequestDecisions out = decide_requests(
      waiting_with([](ProvisioningRequestView& request) { request.message = std::string(199, 'm') + "é and more"; }));
  EXPECT_TRUE(is_utf8(out.notes.at("x")))
      << "the API server would store another text, and it would be patched for ever";
}

TEST(ExistingRequest, IsDeletedWithItsTemplateOnceItsSliceIsPlacedOrGone) {
  Scene scene = waiting_with(provisioned());
  scene.nodes = lettered_pools(1);
  const RequestDecisions out = decide_requests(scene);
  EXPECT_THAT(out.deleted, UnorderedElementsAre("uid-of-request-of-x", "uid-of-template-of-x"));
  scene.nodes.clear();
  scene.ready.clear();
  EXPECT_THAT(decide_requests(scene).deleted, UnorderedElementsAre("uid-of-request-of-x", "uid-of-template-of-x"));
}

TEST(ExistingRequest, IsMadeAgainAfterItsEnd) {
  for (const char* type : {"Failed", "BookingExpired", "CapacityRevoked"}) {
    const RequestDecisions early = decide_requests(waiting_with(ended(type, "no capacity"), 15min - 1s));
    EXPECT_THAT(early.deleted, IsEmpty()) << type;
    EXPECT_THAT(early.created, IsEmpty()) << type;
    EXPECT_EQ(early.changes_at, Duration(15min)) << type;
    EXPECT_EQ(early.notes.at("x"), "; ProvisioningRequest " + name_of("x") + " has ended (" + type +
                                       "): no capacity; the next one is made at 2026-01-01T00:15:00Z");
    Scene scene = waiting_with(ended(type), 15min);
    EXPECT_THAT(decide_requests(scene).deleted, ElementsAre("uid-of-request-of-x")) << "the template is kept";
    EXPECT_THAT(decide_requests(scene).created, IsEmpty()) << "its name is not free";
    scene.provisioning.requests.clear();
    EXPECT_THAT(decide_requests(scene).created, ElementsAre("ProvisioningRequest x")) << type;
  }
}

TEST(ExistingRequest, IsReplacedOnlyOnceItIsGone) {
  const auto terminating = [](ProvisioningRequestView& request) { request.deletion = after(5s); };
  const RequestDecisions out = decide_requests(waiting_with(terminating));
  EXPECT_THAT(out.deleted, IsEmpty());
  EXPECT_THAT(out.created, IsEmpty());
  Scene scene{.ready = slices_of({a_slice("x")})};
  MetadataView pod_template = *a_template("x");
  pod_template.deletion = after(5s);
  scene.provisioning.templates = {std::make_shared<const MetadataView>(pod_template)};
  EXPECT_THAT(decide_requests(scene).created, IsEmpty()) << "a request for this template would fail";
}

TEST(ExistingRequest, IsReplacedIfItsTemplateIsGone) {
  Scene scene = waiting_with(ended("Failed"), 15min);
  scene.provisioning.templates.clear();
  EXPECT_THAT(decide_requests(scene).deleted, ElementsAre("uid-of-request-of-x"));
  scene.provisioning.requests.clear();
  EXPECT_THAT(decide_requests(scene).created, ElementsAre("PodTemplate x"));
}

TEST(ExistingRequest, IsDeletedIfItIsOfAnotherClassOrNamesNoSlice) {
  EXPECT_THAT(decide_requests(waiting_with(of_class(kAtomicScaleUpClass))).deleted, ElementsAre("uid-of-request-of-x"));
  const auto unnamed = [](ProvisioningRequestView& request) { request.annotations.clear(); };
  EXPECT_THAT(decide_requests(waiting_with(unnamed)).deleted, ElementsAre("uid-of-request-of-x"));
}

TEST(ExistingRequest, IsDeletedIfThereIsAnother) {
  Scene scene = waiting_with({});
  scene.provisioning.requests.push_back(a_request("x", [](ProvisioningRequestView& request) { request.uid = "copy"; }));
  EXPECT_THAT(decide_requests(scene).deleted, ElementsAre("copy"));
}

// Reservations count what comes.

TEST(RequestsUnderWay, MayBringNodes) {
  for (const std::string_view one : {kAtomicScaleUpClass, kQueuedProvisioningClass}) {
    EXPECT_TRUE(may_bring_nodes(*a_request("x", of_class(one)))) << one;
    EXPECT_EQ(may_bring_nodes(*a_request("x", provisioned(one))), one == kAtomicScaleUpClass)
        << "the nodes come after the condition for this class only";
    for (const char* type : {"Failed", "BookingExpired", "CapacityRevoked"}) {
      const auto over = [&](ProvisioningRequestView& request) {
        provisioned(one)(request);
        request.ended = type;
      };
      EXPECT_FALSE(may_bring_nodes(*a_request("x", over))) << type;
    }
    const auto terminating = [&](ProvisioningRequestView& request) {
      request.provisioning_class = one;
      request.deletion = after(1s);
    };
    EXPECT_FALSE(may_bring_nodes(*a_request("x", terminating)));
  }
  EXPECT_FALSE(may_bring_nodes(*a_request("x"))) << "check-capacity adds no nodes";
}

TEST(RequestsUnderWay, LetAGangReserveWhatItWaitsFor) {
  Scene scene{
      .nodes = lettered_pools(1),
      .ready = slices_of({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2), a_slice("young").created(10s)})};
  EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-a")) << "the gang needs two pools, and one exists";
  scene.provisioning.requests = {a_request("y", of_class(kQueuedProvisioningClass))};
  const Decisions out = decide(scene);
  EXPECT_THAT(out.placed, IsEmpty());
  EXPECT_THAT(out.waiting.at("x"), HasSubstr("1 reserved for it until"));
  scene.provisioning.requests = {a_request("y", ended("Failed"))};
  EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-a"));
}

// Plans.

const Options kRequestPlans{.scale_up = request_options()};

TEST(RequestPlans, ReachAFixpointAndLetTheSliceGoOncePlaced) {
  PlacementObserved seen = observed({}, {a_slice("x")}, 1min);
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
    return std::ranges::count_if(plan.measurements,
                                 [](const plan::Measurement& each) { return each.name == "tpuslice_scale_ups_total"; });
  };
  EXPECT_EQ(counted(first), 0) << "templates do not count";
  EXPECT_EQ(counted(second), 1);
  seen.provisioning.requests = {a_request("x")};
  const plan::Plan third = plan_placement(seen, kRequestPlans);
  EXPECT_TRUE(third.empty()) << plan::to_json(third).dump(2);

  seen.nodes = a_pool("pool-new").nodes();
  const plan::Plan last = plan_placement(seen, kRequestPlans);
  ASSERT_THAT(last.stages, SizeIs(2));
  EXPECT_THAT(last.stages[0].actions, SizeIs(2)) << "request and template, before the nodes are used";
  for (const plan::Action& action : last.stages[0].actions) EXPECT_EQ(action.kind, plan::ActionKind::kDelete);
  EXPECT_THAT(last.reason, HasSubstr("slice x of 2 hosts is placed in node pool pool-new"));
}

TEST(RequestPlans, DeleteWhatIsLeftOfASliceThatIsGone) {
  PlacementObserved seen = observed({a_pool("pool-a")}, {}, 1min);
  seen.provisioning = {.requests = {a_request("gone")}, .templates = {a_template("gone")}};
  const plan::Plan plan = plan_placement(seen, kRequestPlans);
  ASSERT_THAT(plan.stages, SizeIs(1));
  EXPECT_THAT(plan.stages[0].actions, SizeIs(2));
}

TEST(RequestIndexes, AreByAccelerator) {
  EXPECT_THAT(request_accelerator(*a_request("x")), ElementsAre(kV6e));
  EXPECT_THAT(template_accelerator(*a_template("x")), ElementsAre(kV6e));
  EXPECT_THAT(request_accelerator(ProvisioningRequestView{}), IsEmpty()) << "of others, such as Kueue's";
  EXPECT_THAT(template_accelerator(MetadataView{}), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::slice
