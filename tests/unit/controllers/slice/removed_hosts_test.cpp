#include "controllers/slice/removed_hosts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/slice/slice_plan.h"
#include "controllers/slice/slice_state.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

const ObjectKey kTrain{"default", "train"};

TEST(RemovedHostHistory, KeepsTheUidOfEachHostOfEachSlice) {
  RemovedHostHistory history;
  history.record(kTrain, 2, "a");
  history.record(kTrain, 0, "b");
  history.record({"team", "train"}, 2, "c");
  EXPECT_THAT(history.of(kTrain), ElementsAre(Pair(kTrain, ElementsAre(Pair(0, "b"), Pair(2, "a")))));
  EXPECT_THAT(history.of({"default", "other"}), IsEmpty());
  EXPECT_THAT(history.all(), SizeIs(2));
}

TEST(RemovedHostHistory, ReplacesAnEarlierHostOfThatIndex) {
  RemovedHostHistory history;
  history.record(kTrain, 0, "a");
  history.record(kTrain, 0, "b");
  EXPECT_THAT(history.of(kTrain).at(kTrain), ElementsAre(Pair(0, "b")));
}

TEST(RemovedHostHistory, DropsTheSliceWithTheOldestRecord) {
  RemovedHostHistory history;
  for (std::size_t i = 0; i <= RemovedHostHistory::kMaxSlices; ++i) {
    history.record({"default", fmt::format("s-{}", i)}, 0, "u");
    history.record({"default", fmt::format("s-{}", i)}, 1, "v");
  }
  EXPECT_THAT(history.all(), SizeIs(RemovedHostHistory::kMaxSlices));
  EXPECT_THAT(history.of({"default", "s-0"}), IsEmpty());
  EXPECT_THAT(history.of({"default", "s-1"}), SizeIs(1));
}

TEST(IsRemovalOfSucceededHost, IsTheDeletionOfAHostThatHadSucceeded) {
  const PodPtr running = a_slice("train").runs_in("pool-a").pod(0);
  const PodPtr succeeded = a_slice("train").runs_in("pool-a").succeeds(0).pod(0);
  const PodPtr failed = a_slice("train").runs_in("pool-a").fails(0).pod(0);
  EXPECT_TRUE(is_removal_of_succeeded_host(succeeded, nullptr));
  EXPECT_FALSE(is_removal_of_succeeded_host(running, nullptr));
  EXPECT_FALSE(is_removal_of_succeeded_host(failed, nullptr));
  EXPECT_FALSE(is_removal_of_succeeded_host(succeeded, succeeded));
  EXPECT_FALSE(is_removal_of_succeeded_host(running, succeeded));
  EXPECT_FALSE(is_removal_of_succeeded_host(nullptr, succeeded));
  EXPECT_FALSE(is_removal_of_succeeded_host(nullptr, nullptr));
}

TEST(IsRemovalOfSucceededHost, IsNotThatOfOtherPods) {
  const PodPtr succeeded = a_slice("train").runs_in("pool-a").succeeds(0).pod(0);
  const auto changed = [&](const PodChange& change) {
    return is_removal_of_succeeded_host(with(succeeded, change), nullptr);
  };
  EXPECT_FALSE(changed([](PodView& pod) { pod.annotations.erase(std::string(tpu::kSliceHost)); })) << "a companion";
  EXPECT_FALSE(changed([](PodView& pod) { pod.labels[std::string(tpu::kSlice)] = std::string(tpu::kNoSlice); }));
  EXPECT_FALSE(changed([](PodView& pod) { pod.labels.clear(); }));
}

// What a removed host means for its slice.

/// Four hosts that run, of which some were removed after they had succeeded.
SliceObserved with_removed(SliceBuilder slice, const std::map<int, std::string>& removed) {
  SliceObserved seen{slice.key(), {}, {}, after(1h)};
  for (const auto& [host, uid] : removed) slice.without(host);
  seen.pods = slice.pods();
  seen.removed_hosts = {{slice.key(), removed}};
  return seen;
}

SliceBuilder four_hosts() { return a_slice("train").hosts(4).runs_in("pool-a"); }

TEST(RemovedHost, IsNoLossIfItIsTheOneThatWasPlaced) {
  for (const int host : {0, 1, 3}) {
    const plan::Plan plan = plan_slice(with_removed(four_hosts(), {{host, fmt::format("uid-of-train-{}", host)}}), {});
    EXPECT_EQ(plan.reason, fmt::format("pod train-{} records the hosts that have finished", host == 0 ? 1 : 0));
    EXPECT_THAT(writes_of(plan), SizeIs(1));
  }
}

TEST(RemovedHost, IsKnownToTheNextLeader) {
  SliceObserved seen = with_removed(four_hosts(), {{0, "uid-of-train-0"}, {2, "uid-of-train-2"}});
  apply_plan(plan_slice(seen, {}), seen.pods);
  EXPECT_EQ(seen.pods.front()->annotation(tpu::kRemovedHosts), "0=uid-of-train-0,2=uid-of-train-2");
  EXPECT_TRUE(plan_slice(seen, {}).empty()) << "recorded once";
  seen.removed_hosts.clear();
  const plan::Plan plan = plan_slice(seen, {});
  EXPECT_TRUE(plan.empty()) << plan::to_json(plan).dump(2);
  EXPECT_EQ(members_of(read_slice(kTrain, seen.pods)), members_of(four_hosts().slice()));
  seen.pods.pop_back();
  EXPECT_EQ(plan_slice(seen, {}).reason, "slice train is torn down: 1 of 4 pods exist; host 3 is missing");
}

TEST(RemovedHost, IsReadFromWellFormedRecordsOnly) {
  const auto removed = [](const std::string& record) {
    const auto annotate = [&](PodView& pod) { pod.annotations[std::string(tpu::kRemovedHosts)] = record; };
    return read_slice(kTrain, four_hosts().host(3, annotate).without(0).pods()).removed;
  };
  EXPECT_THAT(removed("0=a"), ElementsAre(Pair(0, "a")));
  EXPECT_THAT(removed(",x=a,-1=b,9=c,1=d,0"), IsEmpty());
}

TEST(RemovedHost, IsNoLossWhileAFinalizerKeepsItsPod) {
  for (const int host : {0, 2}) {
    const SliceBuilder slice = four_hosts().succeeds(host).terminating(host);
    const plan::Plan plan = plan_slice({slice.key(), slice.pods(), {}, after(1h)}, {});
    EXPECT_THAT(plan.reason, ::testing::EndsWith("records the hosts that have finished")) << host;
  }
}

TEST(RemovedHost, IsNotOneOfTheNextAttemptWhileAFinalizerKeepsItsPod) {
  const Slice slice = a_slice("train").hosts(4).succeeds(3).terminating(3).slice();
  EXPECT_THAT(slice.removed, IsEmpty());
  EXPECT_THAT(slice.terminating, SizeIs(1)) << "the others are gated";
}

TEST(RemovedHost, IsALossIfItIsAnother) {
  EXPECT_THAT(plan_slice(with_removed(four_hosts(), {{1, "uid-of-an-earlier-attempt"}}), {}).stages, SizeIs(2));
  EXPECT_THAT(plan_slice(with_removed(four_hosts().without(2), {{1, "uid-of-train-1"}}), {}).stages, SizeIs(2))
      << "host 2 is missing";
}

TEST(RemovedHost, IsOfNoConcernToOtherSlices) {
  SliceObserved seen = with_removed(four_hosts(), {{1, "uid-of-train-1"}});
  seen.removed_hosts = {{{"team", "train"}, {{1, "uid-of-train-1"}}}};
  EXPECT_THAT(plan_slice(seen, {}).stages, SizeIs(2));
}

TEST(RemovedHost, IsForgottenOnceAnotherPodHasItsIndex) {
  const Slice slice = read_slice(kTrain, four_hosts().pods(), {{kTrain, {{1, "old"}, {7, "beyond"}}}});
  EXPECT_THAT(slice.removed, IsEmpty());
  EXPECT_EQ(members_of(slice), members_of(four_hosts().slice()));
}

TEST(RemovedHost, DoesNotStandForAHostOfTheNextAttempt) {
  // The slice key of a JobSet stays the same when its Jobs are recreated: host 3 is created a moment later.
  const std::vector<PodPtr> pods = a_slice("train").hosts(4).without(3).pods();
  const Slice slice = read_slice(kTrain, pods, {{kTrain, {{3, "uid-of-an-earlier-attempt"}}}});
  EXPECT_EQ(state_of(slice, after(1s)).phase, SlicePhase::kForming);
}

TEST(RemovedHost, HoldsBackTheHostsThatAreRecreated) {
  // Host 0 succeeded and was deleted, then the others were lost: they cannot run without it.
  const Slice slice =
      read_slice(kTrain, a_slice("train").hosts(4).without(0).pods(), {{kTrain, {{0, "uid-of-train-0"}}}});
  EXPECT_EQ(state_of(slice, after(1h)).phase, SlicePhase::kForming)
      << "the plan of a ready slice is written to host 0, which does not exist";
}

TEST(MissingHosts, OmitThoseThatWereRemoved) {
  const Slice slice =
      read_slice(kTrain, four_hosts().without(1).without(2).pods(), {{kTrain, {{1, "uid-of-train-1"}}}});
  EXPECT_EQ(state_of(slice, after(1h)).reason, "2 of 4 pods exist; host 2 is missing");
}

}  // namespace
}  // namespace tpuslice::slice
