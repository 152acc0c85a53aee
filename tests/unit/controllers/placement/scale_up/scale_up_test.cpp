#include "controllers/placement/scale_up/scale_up.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/scale_up/scouts.h"
#include "tests/unit/controllers/placement/decisions.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

SliceBuilder asks(const std::string& name, const std::string& how) {
  return a_slice(name).each([=](PodView& pod) { pod.annotations[std::string(tpu::kScaleUp)] = how; });
}

ScaleUpOptions with_mode(ScaleUp mode) {
  ScaleUpOptions options = scout_options();
  options.mode = mode;
  return options;
}

// Who gets a scout.

TEST(Scouts, AreCreatedForSlicesWithoutADomainInTheirOrder) {
  const ScoutDecisions out =
      decide_scouts({.nodes = lettered_pools(1),
                     .ready = slices_of({a_slice("young").created(9s), a_slice("old").created(1s), a_slice("older")})});
  EXPECT_THAT(out.created, ElementsAre("old", "young")) << "older gets pool-a";
  EXPECT_THAT(out.notes,
              UnorderedElementsAre(Pair("old", "; scout pod tpu-system/" + scale_up_name({"default", "old"}) +
                                                   " asks the cluster autoscaler for nodes"),
                                   Pair("young", HasSubstr("asks the cluster autoscaler for nodes"))));
}

TEST(Scouts, AreCreatedAsTheOptionsAndTheWorkloadSay) {
  const auto created = [](const SliceBuilder& slice, ScaleUp mode, bool has_autoscaler) {
    return !decide_scouts({.ready = slices_of({slice})}, with_mode(mode), has_autoscaler).created.empty();
  };
  for (const bool has_autoscaler : {false, true}) {
    EXPECT_FALSE(created(a_slice("x"), ScaleUp::kOff, has_autoscaler));
    EXPECT_EQ(created(a_slice("x"), ScaleUp::kAuto, has_autoscaler), has_autoscaler);
    EXPECT_TRUE(created(a_slice("x"), ScaleUp::kScout, has_autoscaler));
    for (const char* choice : {"auto", "scout"}) {
      EXPECT_FALSE(created(asks("x", choice), ScaleUp::kOff, has_autoscaler)) << "an administrator decided";
    }
    for (const ScaleUp mode : {ScaleUp::kAuto, ScaleUp::kScout}) {
      EXPECT_FALSE(created(asks("x", "off"), mode, has_autoscaler));
      EXPECT_EQ(created(asks("x", "auto"), mode, has_autoscaler), has_autoscaler);
      EXPECT_TRUE(created(asks("x", "scout"), mode, has_autoscaler));
      for (const char* nonsense : {"", "Scout", "true", "on"}) {
        EXPECT_EQ(created(asks("x", nonsense), mode, has_autoscaler), created(a_slice("x"), mode, has_autoscaler));
      }
    }
  }
}

TEST(Scouts, AreForASliceWhoseDomainDoesNotBecomeFree) {
  const auto scene = [](Duration now) {
    return Scene{.nodes = lettered_pools(1),
                 .pods = a_slice("old").runs_in("pool-a").terminating(0).terminating(1).pods(),
                 .ready = slices_of({a_slice("x")}),
                 .now = now};
  };
  EXPECT_THAT(decide_scouts(scene(5min - 1ms)).created, IsEmpty());
  EXPECT_EQ(decide(scene(5min - 1ms)).changes_at, Duration(5min));
  EXPECT_THAT(decide_scouts(scene(5min)).created, ElementsAre("x"));
}

TEST(Scouts, AreNotForPodsWhoseNodesKueueAsksFor) {
  for (const char* name : {"autoscaling.x-k8s.io/consume-provisioning-request",
                           "cluster-autoscaler.kubernetes.io/consume-provisioning-request"}) {
    const ScoutDecisions out = decide_scouts(
        {.ready = slices_of({a_slice("x").each([&](PodView& pod) { pod.annotations[name] = "jobset-x-1"; })})});
    EXPECT_THAT(out.created, IsEmpty());
    EXPECT_THAT(out.notes, ElementsAre(Pair("x", "; ProvisioningRequest jobset-x-1 asks for its nodes")));
  }
}

TEST(Scouts, AreNotForSlicesWhoseDomainASliceObjectMakes) {
  const ScoutDecisions out =
      decide_scouts({.ready = slices_of({a_slice("x").topology_key("cloud.google.com/gke-tpu-slice")})});
  EXPECT_THAT(out.created, IsEmpty());
  EXPECT_THAT(out.notes, ElementsAre(Pair("x",
                                          "; nodes get the label cloud.google.com/gke-tpu-slice from a Slice "
                                          "object: create one")));
}

TEST(Scouts, AreNotForSlicesThatAskByProvisioningRequest) {
  ScaleUpOptions with_class = scout_options();
  with_class.provisioning_class = "check-capacity.autoscaling.x-k8s.io";
  const Scene scene{.ready = slices_of({asks("x", "provisioning-request"), a_slice("y").created(1s)})};
  EXPECT_THAT(decide_scouts(scene, with_class).created, ElementsAre("y"));
  EXPECT_THAT(decide_scouts(scene).created, ElementsAre("y")) << "without a class, x brings no nodes";
  with_class.mode = ScaleUp::kProvisioningRequest;
  EXPECT_THAT(decide_scouts(scene, with_class).created, IsEmpty());
}

TEST(Scouts, AreCreatedAfterTheDelay) {
  const auto at = [](Duration now) {
    return decide_scouts({.ready = slices_of({a_slice("x").created(10s)}), .now = now});
  };
  EXPECT_THAT(at(15s - 1ms).created, IsEmpty());
  EXPECT_EQ(at(15s - 1ms).changes_at, Duration(15s));
  EXPECT_THAT(at(15s).created, ElementsAre("x"));
  EXPECT_EQ(at(15s).changes_at, std::nullopt);
}

TEST(Scouts, AreNotForPodsThatAutoscalersIgnore) {
  EXPECT_THAT(decide_scouts({.ready = slices_of({a_slice("x").priority(-11)})}).created, IsEmpty());
  EXPECT_THAT(decide_scouts({.ready = slices_of({a_slice("x").priority(-10)})}).created, ElementsAre("x"));
}

TEST(Scouts, AreNotForSlicesThatWaitForSomethingElse) {
  const auto named = [](NodeView& node) { node.labels[std::string(tpu::kHostnameLabel)] = node.key.name; };
  SliceBuilder varied = a_slice("varied").hosts(10);
  for (int host = 0; host < 10; ++host) {
    varied.host(host, [=](PodView& pod) { pod.scheduling.edit().node_selector["rack"] = std::to_string(host); });
  }
  const ScoutDecisions out = decide_scouts(
      {.nodes = a_pool("pool-a").node(0, not_ready).each(named).nodes(),
       .ready = slices_of({a_slice("chosen").on({"pool-a-0", "pool-a-1"}), a_slice("half").gang("g", 2), varied})});
  EXPECT_THAT(out.created, IsEmpty());
  EXPECT_THAT(out.notes, IsEmpty());
}

TEST(Scouts, AreForAllSlicesOfAGangThatLackADomain) {
  const std::vector<Slice> gang =
      slices_of({a_slice("w").gang("g", 3), a_slice("x").gang("g", 3), a_slice("y").gang("g", 3)});
  EXPECT_THAT(decide_scouts({.nodes = lettered_pools(1), .ready = gang}).created, ElementsAre("x", "y"));
  ScaleUpOptions one = scout_options();
  one.max_scale_ups = 1;
  const ScoutDecisions none = decide_scouts({.nodes = lettered_pools(1), .ready = gang}, one);
  EXPECT_THAT(none.created, IsEmpty()) << "all or none";
  EXPECT_THAT(none.notes.at("x"), "; no nodes are asked for, as that takes more than --max-scale-ups=1");
}

TEST(Scouts, OfAGangWaitForItsYoungestSlice) {
  const ScoutDecisions out = decide_scouts(
      {.ready = slices_of({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2).created(58s)}), .now = 1min});
  EXPECT_THAT(out.created, IsEmpty());
  EXPECT_EQ(out.changes_at, Duration(63s));
}

TEST(Scouts, AreLookedForAgainIfTheAutoscalerIsNotThereYet) {
  const ScoutDecisions out =
      decide_scouts({.ready = slices_of({a_slice("x")}), .now = 1min}, with_mode(ScaleUp::kAuto), false);
  EXPECT_EQ(out.changes_at, Duration(2min));
  EXPECT_THAT(out.notes, IsEmpty()) << "tenants cannot set it";
  ScaleUpOptions options = with_mode(ScaleUp::kAuto);
  options.show_hints = true;
  EXPECT_EQ(
      decide_scouts({.ready = slices_of({a_slice("x")}), .now = 1min}, options, false).notes.at("x"),
      "; no cluster autoscaler was found (ConfigMap kube-system/cluster-autoscaler-status): --scale-up=scout asks "
      "for nodes without one");
  const ScoutDecisions off = decide_scouts({.ready = slices_of({a_slice("x")})}, with_mode(ScaleUp::kOff), false);
  EXPECT_EQ(off.changes_at, std::nullopt);
  EXPECT_THAT(off.notes, IsEmpty());
}

// Scouts that exist.

TEST(ExistingScout, IsKeptWhileItsSliceLacksADomain) {
  const ScoutDecisions out = decide_scouts({.ready = slices_of({a_slice("x")}), .scouts = {a_scout("x")}});
  EXPECT_THAT(out.created, IsEmpty());
  EXPECT_THAT(out.deleted, IsEmpty());
  EXPECT_THAT(out.notes.at("x"), HasSubstr("asks the cluster autoscaler for nodes"));
}

TEST(ExistingScout, IsDeletedIfItsSliceIsGoneOrPlaced) {
  EXPECT_THAT(decide_scouts({.scouts = {a_scout("gone")}}).deleted, ElementsAre("uid-of-scout-of-gone"));
  const ScoutDecisions placed = decide_scouts({.nodes = lettered_pools(1),
                                               .pods = a_slice("runs").runs_in("pool-z").pods(),
                                               .ready = slices_of({a_slice("x")}),
                                               .scouts = {a_scout("runs"), a_scout("x")}});
  EXPECT_THAT(placed.deleted, ElementsAre("uid-of-scout-of-runs", "uid-of-scout-of-x"));
}

TEST(ExistingScout, IsDeletedIfItIsNotWantedAnyMore) {
  EXPECT_THAT(
      decide_scouts({.ready = slices_of({a_slice("x")}), .scouts = {a_scout("x")}}, with_mode(ScaleUp::kOff)).deleted,
      SizeIs(1));
  EXPECT_THAT(decide_scouts({.ready = slices_of({asks("x", "off")}), .scouts = {a_scout("x")}}).deleted, SizeIs(1));
}

TEST(ExistingScout, IsDeletedIfItNamesNoSlice) {
  for (const char* text : {"x", "/", "default/", "/x", "default/x/y", "other/x"}) {
    const PodPtr scout = a_scout("x", [=](PodView& pod) { pod.annotations[std::string(tpu::kScaleUpFor)] = text; });
    const ScoutDecisions out = decide_scouts({.ready = slices_of({a_slice("x")}), .scouts = {scout}});
    EXPECT_THAT(out.deleted, ElementsAre("uid-of-scout-of-x")) << text;
  }
}

TEST(ExistingScout, IsReplacedOnlyOnceItIsGone) {
  const Scene scene{.ready = slices_of({a_slice("x")})};
  for (const PodPhase phase : {PodPhase::kFailed, PodPhase::kSucceeded}) {
    Scene ended = scene;
    ended.scouts = {a_scout("x", [=](PodView& pod) { pod.phase = phase; })};
    EXPECT_THAT(decide_scouts(ended).deleted, SizeIs(1));
    EXPECT_THAT(decide_scouts(ended).created, IsEmpty()) << "its name is not free";
  }
  Scene terminating = scene;
  terminating.scouts = {a_scout("x", [](PodView& pod) { pod.deletion = after(5s); })};
  EXPECT_THAT(decide_scouts(terminating).deleted, IsEmpty()) << "it was deleted";
  EXPECT_THAT(decide_scouts(terminating).created, IsEmpty());
}

TEST(ExistingScout, IsDeletedIfThereIsAnother) {
  const PodPtr copy = a_scout("x", [](PodView& pod) {
    pod.key.name = "copy";
    pod.uid = "copy";
  });
  const ScoutDecisions out = decide_scouts({.ready = slices_of({a_slice("x")}), .scouts = {a_scout("x"), copy}});
  EXPECT_THAT(out.deleted, ElementsAre("copy"));
  EXPECT_THAT(out.created, IsEmpty());
}

TEST(ExistingScout, IsDeletedIfAnotherSliceGetsItsNode) {
  Scene scene{.nodes = lettered_pools(1),
              .ready = slices_of({a_slice("old"), a_slice("x").created(5s)}),
              .scouts = {a_scout_on("pool-a-0", "x")}};
  const ScoutDecisions out = decide_scouts(scene);
  EXPECT_THAT(out.deleted, ElementsAre("uid-of-scout-of-x"));
  EXPECT_THAT(out.created, IsEmpty());
}

TEST(Scouts, AreNotMadeWithoutTheFeatureWhateverAWorkloadChooses) {
  const auto created = [](bool scouts, const std::string& choice) {
    Scene scene{.ready = slices_of(
                    {a_slice("x").each([&](PodView& pod) { pod.annotations[std::string(tpu::kScaleUp)] = choice; })})};
    ScaleUpOptions options = scout_options();
    options.scouts = scouts;
    return !decide_scouts(scene, options).created.empty();
  };
  EXPECT_TRUE(created(true, "scout"));
  EXPECT_FALSE(created(false, "scout"));
  EXPECT_FALSE(created(false, "auto"));
}

TEST(ExistingScout, IsDoneOnceItsDomainIsWholeAndReserved) {
  const ScoutDecisions out = decide_scouts({.nodes = lettered_pools(2),
                                            .pods = a_slice("old").runs_in("pool-b").pods(),
                                            .ready = slices_of({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2)}),
                                            .scouts = {a_scout_on("pool-a-0", "y")}});
  EXPECT_THAT(out.deleted, ElementsAre("uid-of-scout-of-y")) << "the gang has this domain, and lacks another";
}

TEST(ExistingScout, IsKeptOnItsNodeWhileNoAutoscalerIsFound) {
  Scene scene{.nodes = a_pool("pool-a").without(1).nodes(),
              .ready = slices_of({a_slice("x"), a_slice("y").created(1s)}),
              .scouts = {a_scout_on("pool-a-0", "x"), a_scout("y")}};
  const ScoutDecisions out = decide_scouts(scene, with_mode(ScaleUp::kAuto), false);
  EXPECT_THAT(out.deleted, ElementsAre("uid-of-scout-of-y"))
      << "one without a node asks an autoscaler that is not there";
  EXPECT_THAT(out.created, IsEmpty());
  EXPECT_THAT(out.notes.at("x"), HasSubstr("has a node of pool-a, which is not whole yet"));
  EXPECT_EQ(out.changes_at, Duration(2min)) << "the autoscaler is looked for again";
  EXPECT_THAT(decide_scouts(scene, with_mode(ScaleUp::kOff), false).deleted, SizeIs(2));
  scene.ready = slices_of({a_slice("y").created(1s)});
  EXPECT_THAT(decide_scouts(scene, with_mode(ScaleUp::kAuto), false).deleted, SizeIs(2)) << "x is gone";
}

TEST(ExistingScout, IsTakenBackFromAPoolThatStaysIncompleteWithoutAnAutoscaler) {
  const auto at = [](Duration now) {
    return decide_scouts({.nodes = a_pool("pool-a").without(1).nodes(),
                          .ready = slices_of({a_slice("x")}),
                          .now = now,
                          .scouts = {a_scout_on("pool-a-0", "x")}},
                         with_mode(ScaleUp::kAuto), false);
  };
  EXPECT_THAT(at(30min - 1s).deleted, IsEmpty());
  EXPECT_THAT(at(30min).deleted, ElementsAre("uid-of-scout-of-x"));
  EXPECT_THAT(at(30min).created, IsEmpty());
}

TEST(ExistingScout, IsExplainedByItsNode) {
  Scene scene{.nodes = a_pool("pool-a").without(1).nodes(),
              .ready = slices_of({a_slice("x")}),
              .scouts = {a_scout_on("pool-a-0", "x")}};
  EXPECT_EQ(decide_scouts(scene).notes.at("x"), "; scout pod tpu-system/" + scale_up_name({"default", "x"}) +
                                                    " has a node of pool-a, which is not whole yet");
  scene.scouts = {a_scout_on("unknown", "x")};
  EXPECT_THAT(decide_scouts(scene).notes.at("x"), HasSubstr("asks the cluster autoscaler for nodes"));
}

TEST(ExistingScout, IsTakenBackIfTheOtherNodesDoNotCome) {
  const auto at = [](Duration now) {
    return decide_scouts({.nodes = a_pool("pool-a").without(1).nodes(),
                          .ready = slices_of({a_slice("x")}),
                          .now = now,
                          .scouts = {a_scout_on("pool-a-0", "x")}});
  };
  EXPECT_THAT(at(30min - 1s).deleted, IsEmpty());
  EXPECT_EQ(at(30min - 1s).changes_at, Duration(30min));
  EXPECT_THAT(at(30min).deleted, ElementsAre("uid-of-scout-of-x"));
  EXPECT_THAT(at(30min).created, IsEmpty());
}

TEST(ExistingScout, HasTheDomainThatItsSlicePrefers) {
  const std::vector<Slice> ready = slices_of({a_slice("x"), a_slice("y").created(1s)});
  const auto placed = [&](const std::vector<PodPtr>& scouts) {
    return decide({.nodes = lettered_pools(2), .ready = ready, .scouts = scouts}).placed;
  };
  EXPECT_THAT(placed({a_scout_on("pool-b-1", "x")}), ElementsAre("x to pool-b", "y to pool-a"));
  EXPECT_THAT(placed({a_scout_on("pool-a-1", "y")}), ElementsAre("x to pool-b", "y to pool-a"));
  EXPECT_THAT(placed({a_scout_on("pool-a-0", "y"), a_scout_on("pool-b-0", "x")}),
              ElementsAre("x to pool-b", "y to pool-a"));
}

// Where scouts may not go.

TEST(AvoidedDomains, AreInUseInPartOrBroken) {
  const ScoutDecisions out =
      decide_scouts({.nodes = nodes_of({a_pool("part"), a_pool("full"), a_pool("broken").node(0, not_ready),
                                        a_pool("cordoned").each(cordoned), a_pool("small").size(1),
                                        a_pool("large").size(4), a_pool("other").label("zone", "z2")}),
                     .pods = {a_pod_without_slice("u", "part-0"), a_pod_without_slice("v", "full-0"),
                              a_pod_without_slice("w", "full-1"), a_pod_without_slice("t", "other-0")},
                     .ready = slices_of({a_slice("x")})});
  ASSERT_THAT(out.pods, Contains(Key("x")));
  EXPECT_THAT(avoided_by(out.pods.at("x")),
              UnorderedElementsAre("part", "broken", "cordoned", "small", "large", "other"));
}

TEST(AvoidedDomains, ContainTheFreeOneOfAGangThatNeedsMore) {
  const ScoutDecisions out = decide_scouts(
      {.nodes = lettered_pools(1), .ready = slices_of({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2)})});
  ASSERT_THAT(out.created, ElementsAre("y"));
  EXPECT_THAT(avoided_by(out.pods.at("y")), ElementsAre("pool-a"))
      << "a scout that is scheduled there brings no second node pool";
}

TEST(AvoidedDomains, ContainThoseThatAreReserved) {
  const ScoutDecisions out = decide_scouts(
      {.nodes = lettered_pools(2),
       .pods = a_slice("old").runs_in("pool-b").pods(),
       .ready = slices_of({a_slice("x").gang("g", 2), a_slice("y").gang("g", 2), a_slice("young").created(10s)})});
  ASSERT_THAT(out.created, ElementsAre("y", "young"));
  for (const auto& [slice, scout] : out.pods) {
    EXPECT_THAT(avoided_by(scout), ElementsAre("pool-a")) << slice << ": no pod keeps it off a reserved domain";
  }
}

}  // namespace
}  // namespace tpuslice::placement
