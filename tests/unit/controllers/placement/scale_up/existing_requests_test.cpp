// Provisioning requests that exist: how long they are kept, and what is said about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/utf8.h"
#include "controllers/placement/scale_up/provisioning_request.h"
#include "tests/unit/controllers/placement/scale_up/request_scenes.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

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
    const RequestDecisions early = decide_requests(waiting_with(ended(type, "no capacity", 10min), 25min - 1s));
    EXPECT_THAT(early.deleted, IsEmpty()) << type;
    EXPECT_THAT(early.created, IsEmpty()) << type;
    EXPECT_EQ(early.changes_at, Duration(25min)) << type;
    EXPECT_EQ(early.notes.at("x"), "; ProvisioningRequest " + name_of("x") + " has ended (" + type +
                                       "): no capacity; the next one is made at 2026-01-01T00:25:00Z");
    Scene scene = waiting_with(ended(type, "", 10min), 25min);
    EXPECT_THAT(decide_requests(scene).deleted, ElementsAre("uid-of-request-of-x")) << "the template is kept";
    EXPECT_THAT(decide_requests(scene).created, IsEmpty()) << "its name is not free";
    scene.provisioning.requests.clear();
    EXPECT_THAT(decide_requests(scene).created, ElementsAre("ProvisioningRequest x")) << type;
  }
}

TEST(ExistingRequest, IsMadeAgainALongTimeAfterItsCreationIfItsEndHasNoTime) {
  const auto untimed = [](ProvisioningRequestView& request) { request.ended = "Failed"; };
  EXPECT_EQ(decide_requests(waiting_with(untimed, 15min - 1s)).changes_at, Duration(15min));
  EXPECT_THAT(decide_requests(waiting_with(untimed, 15min)).deleted, ElementsAre("uid-of-request-of-x"));
}

TEST(ExistingRequest, IsKeptAfterItsEndThoughItsSliceLacksNothingForAWhile) {
  // One pool is free for the gang of two, so one of its slices lacks none.
  const auto scene_at = [](Duration now) {
    return Scene{.nodes = lettered_pools(1),
                 .ready = slices_of({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2)}),
                 .now = now,
                 .provisioning = {.requests = {a_request("x", ended("Failed"))}, .templates = {a_template("x")}}};
  };
  ASSERT_THAT(decide(scene_at(1min)).lacking, ElementsAre("y"));
  const RequestDecisions out = decide_requests(scene_at(1min));
  EXPECT_THAT(out.deleted, ElementsAre("uid-of-template-of-x")) << "x could ask again at once without its request";
  EXPECT_EQ(out.notes.count("x"), 0U);
  EXPECT_EQ(out.changes_at, Duration(15min));
  EXPECT_THAT(decide_requests(scene_at(15min)).deleted,
              UnorderedElementsAre("uid-of-request-of-x", "uid-of-template-of-x"));
}

TEST(ExistingRequest, SaysThatItsSliceHasNoDomainThoughItIsProvisioned) {
  const auto out_at = [](Duration now) {
    return decide_requests(waiting_with(
        [](ProvisioningRequestView& request) {
          provisioned(kCheckCapacityClass, 5min)(request);
          request.message = "Capacity is found";
        },
        now));
  };
  const std::string before = "; ProvisioningRequest " + name_of("x") + " is provisioned: Capacity is found";
  EXPECT_EQ(out_at(20min - 1s).notes.at("x"), before);
  EXPECT_EQ(out_at(20min - 1s).changes_at, Duration(20min)) << "nothing else makes a plan then";
  for (const Duration later : {Duration(20min), Duration(24h)}) {
    EXPECT_EQ(out_at(later).notes.at("x"),
              before + "; the slice has no node pool after 900 s, so the request gives way to those of other slices")
        << "always the same text, or the pod would be patched with each plan";
    EXPECT_EQ(out_at(later).changes_at, std::nullopt);
    EXPECT_THAT(out_at(later).deleted, IsEmpty()) << "it is kept until it ends";
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

/// A minute after the start, unless `now` says otherwise.
bool brings_nodes(const RequestChange& change, Duration now = 1min) {
  return may_bring_nodes(*a_request("x", change), after(now), request_options());
}

TEST(RequestsUnderWay, MayBringNodes) {
  for (const std::string_view one : {kAtomicScaleUpClass, kQueuedProvisioningClass}) {
    EXPECT_TRUE(brings_nodes(of_class(one))) << one;
    EXPECT_TRUE(brings_nodes(of_class(one), 24h)) << "queued requests may wait for days";
    EXPECT_EQ(brings_nodes(provisioned(one)), one == kAtomicScaleUpClass)
        << "the nodes come after the condition for this class only";
    for (const char* type : {"Failed", "BookingExpired", "CapacityRevoked"}) {
      const auto over = [&](ProvisioningRequestView& request) {
        provisioned(one)(request);
        request.ended = type;
      };
      EXPECT_FALSE(brings_nodes(over)) << type;
    }
    const auto terminating = [&](ProvisioningRequestView& request) {
      request.provisioning_class = one;
      request.deletion = after(1s);
    };
    EXPECT_FALSE(brings_nodes(terminating));
  }
  EXPECT_FALSE(brings_nodes({})) << "check-capacity adds no nodes";
}

TEST(RequestsUnderWay, MayBringNodesForTheTimeOutAfterTheyWereProvisioned) {
  const RequestChange late = provisioned(kAtomicScaleUpClass, 5min);
  EXPECT_TRUE(brings_nodes(late, 20min - 1s));
  EXPECT_FALSE(brings_nodes(late, 20min));
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

TEST(RequestsUnderWay, DoNotKeepDomainsOnceTheyAreUnsuccessful) {
  Scene scene{
      .nodes = lettered_pools(1),
      .ready = slices_of({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2), a_slice("young").created(10s)})};
  scene.provisioning.requests = {a_request("y", provisioned(kAtomicScaleUpClass))};
  scene.now = 15min - 1s;
  EXPECT_THAT(decide(scene).placed, IsEmpty()) << "its nodes are on the way";
  scene.now = 15min;
  EXPECT_THAT(decide(scene).placed, ElementsAre("young to pool-a"));
}

}  // namespace
}  // namespace tpuslice::placement
