// Slices whose pods the API server does not let us change.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/preemption.h"
#include "controllers/slice/pod_patches.h"
#include "controllers/slice/refused_pods.h"
#include "controllers/slice/slice_plan.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/decisions.h"
#include "tests/unit/controllers/placement/scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const Error kDenied = Error::of(ErrorCode::kForbidden, "policy x denied request: no updates");
const Error kChanged = Error::conflict("pods default/old-0 has changed");

/// The API server with the controllers' memory: it refuses the patches of some pods.
class Refusals {
 public:
  explicit Refusals(PlacementScene scene) : scene_(std::move(scene)) {}

  /// Plans the accelerator and sends what is due, as the controller does. Returns what was sent: "patch Pod old-0".
  std::vector<std::string> place(Duration now, const PlacementOptions& options = {}) {
    scene_.now = after(now);
    scene_.failed_writes = std::make_shared<const plan::FailedWrites>(writes_);
    plan_ = plan_placement(scene_, options);
    return send(now);
  }
  std::vector<std::string> plan_one(const SliceBuilder& slice, Duration now) {
    slice::SliceObserved seen{slice.key(), {}, {}, after(now)};
    for (const PodPtr& pod : scene_.pods) {
      if (in_slice(*pod) && slice_key(*pod) == slice.key()) seen.pods.push_back(pod);
    }
    seen.failed_writes = std::make_shared<const plan::FailedWrites>(writes_);
    plan_ = slice::plan_slice(seen, {});
    return send(now);
  }
  void refuse(const std::string& pod, const Error& error = kDenied) { errors_.insert_or_assign(pod, error); }
  void refuse_status(const std::string& pod) { status_errors_.insert(pod); }
  void allow() {
    errors_.clear();
    status_errors_.clear();
  }
  [[nodiscard]] const plan::Plan& last_plan() const { return plan_; }
  [[nodiscard]] PlacementScene& scene() { return scene_; }
  [[nodiscard]] plan::FailedWrites& writes() { return writes_; }
  [[nodiscard]] std::string reason_on(const std::string& pod) const {
    const auto found = std::ranges::find_if(scene_.pods, [&](const PodPtr& each) { return each->key.name == pod; });
    return (*found)->annotation(tpu::kWaiting);
  }
  [[nodiscard]] double waiting(const std::string& reason) const {
    for (const plan::Measurement& each : plan_.measurements) {
      if (const auto found = each.labels.find("reason"); found != each.labels.end() && found->second == reason) {
        return each.value;
      }
    }
    return -1;
  }

 private:
  std::vector<std::string> send(Duration now) {
    std::vector<std::string> sent;
    plan::Plan plan = plan_;
    writes_.hold_back(plan, after(now));
    plan_.requeue_after = plan.requeue_after;
    plan_.events = plan.events;
    for (const plan::Stage& stage : plan.stages) {
      for (const plan::Action& action : stage.actions) {
        const bool status = action.subresource == "status";
        sent.push_back(write_of(action));
        const auto error = errors_.find(action.key.name);
        const bool refused = action.kind == plan::ActionKind::kPatch &&
                             (status ? status_errors_.contains(action.key.name) : error != errors_.end());
        if (refused) {
          writes_.record_failure(action, status ? kDenied : error->second, after(now));
          continue;
        }
        writes_.record_success(action);
        plan::Plan one;
        one.stages = {{{action}}};
        apply_plan(one, scene_.pods);
      }
    }
    return sent;
  }

  PlacementScene scene_;
  plan::FailedWrites writes_;
  std::map<std::string, Error> errors_;
  std::set<std::string> status_errors_;
  plan::Plan plan_;
};

/// One pool for two slices.
Refusals old_and_young() {
  return Refusals(observed({a_pool("pool-a")}, {a_slice("old").in("team"), a_slice("young").created(2s)}, 10s));
}

TEST(RefusedSlice, LeavesItsDomainToTheNextOneAndSaysWhy) {
  Refusals api = old_and_young();
  api.refuse("old-0");
  EXPECT_THAT(api.place(10s), ElementsAre("patch Pod old-0", "patch Pod young-0")) << "and a waiting reason";
  EXPECT_THAT(api.place(10s), ElementsAre("patch Pod young-0", "patch Pod old-0 status"));
  EXPECT_EQ(
      api.last_plan().reason,
      "slice young of 2 hosts is placed in node pool pool-a; slice old waits: its pods cannot be changed: policy x "
      "denied request: no updates; correct the pods, or the rule that refuses this, it is tried again within 5 "
      "minutes");
  EXPECT_THAT(api.reason_on("old-0"), StartsWith("its pods cannot be changed: policy x denied request: no updates; "));
  EXPECT_EQ(api.waiting("UpdateRefused"), 1);
  EXPECT_EQ(api.waiting("NodesInUse"), 0);
  EXPECT_THAT(api.place(10s), IsEmpty());
}

TEST(RefusedSlice, IsTriedAgainLessAndLessOften) {
  Refusals api(observed({a_pool("pool-a")}, {a_slice("old")}, 10s));
  api.refuse("old-0");
  int releases = 0;
  int others = 0;
  for (Duration now = 10s; now < 10s + 10min; now += 50ms) {
    for (const std::string& sent : api.place(now)) ++(sent == "patch Pod old-0" ? releases : others);
  }
  EXPECT_EQ(releases, 10) << "after 0, 1, 3, 7, 15, 31, 63, 127, 255 and 511 s";
  EXPECT_EQ(others, 1) << "the reason";
  api.allow();
  EXPECT_THAT(api.place(10s + 15min), ElementsAre("patch Pod old-0"));
  EXPECT_TRUE(api.writes().empty());
  EXPECT_EQ(api.reason_on("old-0"), "");
}

TEST(RefusedSlice, IsPlannedAgainWhenItIsDue) {
  Refusals api(observed({a_pool("pool-a")}, {a_slice("old")}, 10s));
  api.refuse("old-0");
  api.place(10s);
  api.place(10s);
  EXPECT_EQ(api.last_plan().requeue_after, Duration(1s));
  api.place(10s + 400ms);
  EXPECT_EQ(api.last_plan().requeue_after, Duration(600ms));
}

TEST(RefusedSlice, WhoseReasonIsRefusedTooBacksOffWithOneEventForEachAttempt) {
  Refusals api(observed({a_pool("pool-a")}, {a_slice("old")}, 10s));
  api.refuse("old-0");
  api.refuse_status("old-0");
  int writes = 0;
  int events = 0;
  for (Duration now = 10s; now < 70s; now += 50ms) {
    writes += static_cast<int>(api.place(now).size());
    for (const plan::EventIntent& event : api.last_plan().events) {
      events += event.reason == "SliceWaiting" && event.regarding->kind != "Pod" ? 1 : 0;
    }
  }
  EXPECT_LE(writes, 12) << "6 releases, 6 reasons";
  EXPECT_LE(events, 6);
  EXPECT_GE(events, 1);
}

TEST(WaitingSlice, WhoseReasonIsRefusedGetsItThroughTheStatus) {
  Refusals api(observed({}, {a_slice("old")}, 10s));
  api.refuse("old-0");
  EXPECT_THAT(api.place(10s), ElementsAre("patch Pod old-0"));
  EXPECT_THAT(api.place(10s), ElementsAre("patch Pod old-0 status"));
  EXPECT_EQ(api.reason_on("old-0"), "no node pool matches the pods' node selector and affinity");
  EXPECT_THAT(api.place(10s), IsEmpty());
}

TEST(RefusedSlice, ThatChangesAllTheTimeLeavesItsDomain) {
  Refusals api = old_and_young();
  api.refuse("old-0", kChanged);
  std::vector<std::string> sent;
  Duration now = 10s;
  for (; now < 13s && std::ranges::count(sent, "patch Pod young-0") == 0; now += 50ms) {
    // It changes before each attempt.
    for (PodPtr& pod : api.scene().pods) {
      if (pod->key.name == "old-0") pod = with(pod, [](PodView& changed) { changed.resource_version += "t"; });
    }
    sent = api.place(now);
    if (api.last_plan().reason.starts_with("slice old")) sent.clear();  // A waiting reason of young.
  }
  EXPECT_THAT(sent, ElementsAre("patch Pod young-0", "patch Pod old-0")) << "at " << now / 1ms << " ms";
  EXPECT_THAT(api.last_plan().reason, HasSubstr("slice old waits: its pods cannot be changed: pods default/old-0 has "
                                                "changed; find out what changes them all the time, "));
}

TEST(RefusedSlice, KeepsItsPlaceInTheQueueAfterAFewConflicts) {
  Refusals api = old_and_young();
  api.refuse("old-0", kChanged);
  for (Duration now = 10s; now < 10s + 400ms; now += 50ms) {
    api.place(now);
    EXPECT_THAT(api.last_plan().reason, StartsWith("slice old of 2 hosts is placed")) << now / 1ms;
  }
  api.allow();
  EXPECT_THAT(api.place(11s), ElementsAre("patch Pod old-0"));
}

TEST(RefusedSlice, HoldsBackThoseThatStartTogetherWithIt) {
  Refusals api(observed({a_pool("pool-a"), a_pool("pool-b")},
                        {a_slice("g-1").gang("g", 2), a_slice("g-2").gang("g", 2), a_slice("young").created(2s)}, 10s));
  api.refuse("g-1-0");
  // The plan that meets the refusal releases both.
  api.scene().now = after(10s);
  plan::Plan first = plan_placement(api.scene(), {});
  api.writes().record_failure(action_of(first, "patch Pod g-1-0"), kDenied, after(10s));
  const std::vector<std::string> sent = api.place(10s);
  EXPECT_THAT(sent, ElementsAre("patch Pod young-0", "patch Pod g-1-0 status", "patch Pod g-2-0"));
  EXPECT_THAT(api.reason_on("g-1-0"), StartsWith("its pods cannot be changed: "));
  EXPECT_THAT(api.reason_on("g-2-0"),
              StartsWith("slice g-1, which starts together with it, cannot start: its pods cannot be changed: "));
  EXPECT_EQ(api.waiting("UpdateRefused"), 2);
}

TEST(RefusedSlice, AsksForNoNodes) {
  const PlacementOptions options{.scale_up = scout_options()};
  Refusals api(observed({a_pool("pool-a")}, {a_slice("old")}, 10s));
  api.refuse("old-0");
  api.place(10s, options);
  api.scene().pods.push_back(a_scout("old"));
  EXPECT_THAT(api.place(10s, options), ElementsAre("delete Pod " + a_scout("old")->key.name, "patch Pod old-0 status"));
}

TEST(RefusedSlice, PreemptsNoOtherUntilItHasStarted) {
  Refusals api(observed({a_pool("pool-a")}, {a_slice("old").priority(9)}, 10s));
  api.refuse("old-0");
  api.place(10s);
  PlacementScene scene = observed({a_pool("pool-a")}, {a_slice("old").priority(9), a_slice("low").runs_in("pool-a")});
  scene.preemptions = preemption_records();
  scene.now = after(1min);
  const PlacementOptions options{.max_preemptions_per_hour = 5};
  EXPECT_THAT(plan_placement(scene, options).reason, HasSubstr("slice low of priority 0 is preempted"));
  scene.failed_writes = std::make_shared<const plan::FailedWrites>(api.writes());
  EXPECT_THAT(plan_placement(scene, options).reason, Not(HasSubstr("preempted"))) << "also when it is due again";
}

TEST(VictimOfPreemption, IsNotASliceThatCannotBeDeleted) {
  PlacementScene scene = observed(
      {a_pool("pool-a"), a_pool("pool-b")},
      {a_slice("high").priority(9), a_slice("low").runs_in("pool-a"), a_slice("middle").priority(5).runs_in("pool-b")});
  scene.preemptions = preemption_records();
  scene.now = after(1min);
  const PlacementOptions options{.max_preemptions_per_hour = 5};
  EXPECT_THAT(plan_placement(scene, options).reason, HasSubstr("slice low of priority 0 is preempted"));
  plan::FailedWrites writes;
  writes.record_failure(delete_pod(*a_slice("low").runs_in("pool-a").pod(1)), kDenied, after(0s));
  scene.failed_writes = std::make_shared<const plan::FailedWrites>(writes);
  EXPECT_THAT(plan_placement(scene, options).reason, HasSubstr("slice middle of priority 5 is preempted"));
}

// A slice that is placed, one of whose other hosts cannot be released.

SliceBuilder half() { return a_slice("half").hosts(4).placed_in("pool-a").gated(1).gated(2).gated(3); }
Refusals half_placed() { return Refusals(observed({a_pool("pool-a").size(4)}, {half()}, 10s)); }

TEST(HalfPlacedSlice, ReleasesItsOtherHostsIfOneIsRefused) {
  Refusals api = half_placed();
  api.refuse("half-1");
  EXPECT_THAT(api.plan_one(half(), 10s), ElementsAre("patch Pod half-1", "patch Pod half-2", "patch Pod half-3"));
  EXPECT_EQ(api.last_plan().stages.at(0).independent, true);
  EXPECT_THAT(api.plan_one(half(), 20s), ElementsAre("patch Pod half-1", "patch Pod half-0")) << "the reason";
  EXPECT_EQ(api.reason_on("half-0"), "pod half-1 cannot be changed: policy x denied request: no updates");
  EXPECT_THAT(api.plan_one(half(), 20s), IsEmpty());
  api.allow();
  EXPECT_THAT(api.plan_one(half(), 30s), ElementsAre("patch Pod half-1"));
  EXPECT_THAT(api.plan_one(half(), 30s), ElementsAre("patch Pod half-0")) << "the reason is removed";
  EXPECT_EQ(api.reason_on("half-0"), "");
}

TEST(HalfPlacedSlice, IsTornDownAfterTwoMinutesAndWaits) {
  Refusals api = half_placed();
  api.refuse("half-3");
  Duration now = 10s;
  for (; now < 10s + 2min; now += 500ms) {
    EXPECT_THAT(api.plan_one(half(), now), Not(::testing::Contains("delete Pod half-0"))) << now / 1ms;
  }
  EXPECT_THAT(api.plan_one(half(), now),
              ::testing::IsSupersetOf({"delete Pod half-0", "delete Pod half-1", "delete Pod half-2"}));
  EXPECT_EQ(events_of(api.last_plan()).at(0).message,
            "Slice half is torn down, 3 of its 4 pods are deleted: pod half-3 cannot be changed: policy x denied "
            "request: no updates");
  EXPECT_EQ(measurements_of(api.last_plan()).at(0).labels.at("reason"), "not released");
  // Their successors exist; host 3 is the same.
  PlacementScene again = observed({a_pool("pool-a").size(4)}, {a_slice("half").hosts(4)}, now);
  again.failed_writes = std::make_shared<const plan::FailedWrites>(api.writes());
  EXPECT_THAT(plan_placement(again, {}).reason, StartsWith("slice half waits: its pods cannot be changed: "));
}

TEST(HalfPlacedSlice, HasTheWholeTimeAgainAfterItWasPlacedAgain) {
  Refusals api(observed({a_pool("pool-a").size(4)}, {a_slice("half").hosts(4).placed_in("pool-a", 1h).gated(3)}, 10s));
  api.refuse("half-3");
  api.writes().record_failure(release_pod(*half().pod(3), {}), kDenied, after(10s));
  EXPECT_THAT(api.plan_one(half(), 1h + 1s), ElementsAre("patch Pod half-3"));
  EXPECT_THAT(api.plan_one(half(), 1h + 2min), ::testing::Contains("delete Pod half-0"));
}

TEST(HalfPlacedSlice, IsNotTornDownWithoutARefusal) {
  Refusals api = half_placed();
  EXPECT_THAT(api.plan_one(half(), 1h), ElementsAre("patch Pod half-1", "patch Pod half-2", "patch Pod half-3"))
      << "the operator was away for an hour";
}

TEST(TornDownSlice, DeletesTheOtherPodsIfOneCannotBeDeleted) {
  const SliceBuilder slice = a_slice("train").hosts(3).runs_in("pool-a").fails(0);
  const plan::Plan plan = slice::plan_slice({slice.key(), slice.pods(), {}, after(1min)}, {});
  ASSERT_THAT(plan.stages, SizeIs(2));
  EXPECT_TRUE(plan.stages[1].independent);
}

}  // namespace
}  // namespace tpuslice::placement
