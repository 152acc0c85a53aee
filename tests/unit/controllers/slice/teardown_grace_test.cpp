// How long the hosts of a slice may take to stop once one of them is lost.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/slice/slice_plan.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using plan::Plan;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr const char* kByTaint = "DeletionByTaintManager";

PodChange teardown_grace_of(std::string seconds) {
  return [seconds = std::move(seconds)](PodView& pod) { pod.annotations[std::string(tpu::kTeardownGrace)] = seconds; };
}

/// Three hosts that run in pool-a.
SliceBuilder slice_with_grace(std::string seconds = "3") {
  return a_slice("train").hosts(3).runs_in("pool-a").each(teardown_grace_of(std::move(seconds)));
}

PodChange deleted_for(std::string_view disruption) {
  return [disruption = std::string(disruption)](PodView& pod) {
    pod.deletion = start_of_time();
    pod.disruption = disruption;
  };
}

Plan teardown_plan(const SliceBuilder& slice, const std::vector<NodePtr>& nodes = {}) {
  SliceObserved seen{slice.key(), slice.pods(), {}, after(1h)};
  for (const NodePtr& node : nodes) seen.nodes.emplace(node->key.name, node);
  return plan_slice(seen, {});
}

/// The grace period of each delete, by pod; -1 for the pod's own.
std::map<std::string, std::int64_t> grace_periods(const Plan& plan) {
  std::map<std::string, std::int64_t> out;
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) {
      if (action.kind != plan::ActionKind::kDelete) continue;
      EXPECT_NE(action.preconditions.uid, "");
      EXPECT_TRUE(out.emplace(action.key.name, action.grace_seconds.value_or(-1)).second) << action.key.name;
    }
  }
  return out;
}

TEST(TeardownGrace, IsThatOfTheAnnotationAfterAFailure) {
  EXPECT_THAT(grace_periods(teardown_plan(slice_with_grace().fails(1))),
              ElementsAre(Pair("train-0", 3), Pair("train-2", 3)));
  EXPECT_THAT(grace_periods(teardown_plan(slice_with_grace().without(1))),
              ElementsAre(Pair("train-0", 3), Pair("train-2", 3)));
}

TEST(TeardownGrace, IsThatOfTheAnnotationOnceANodeIsLost) {
  EXPECT_THAT(grace_periods(teardown_plan(slice_with_grace(), a_pool("pool-a").size(3).node(2, not_ready).nodes())),
              ElementsAre(Pair("train-0", 3), Pair("train-1", 3), Pair("train-2", 3)));
}

TEST(TeardownGrace, IsThePodsOwnWithoutTheAnnotationOrWithAnInvalidOne) {
  for (const char* value : {"", "0", "-3", "soon", "31"}) {
    EXPECT_THAT(grace_periods(teardown_plan(slice_with_grace(value).fails(1))),
                ElementsAre(Pair("train-0", -1), Pair("train-2", -1)))
        << value;
  }
}

TEST(TeardownGrace, IsThePodsOwnIfAPodWasDeletedOnPurpose) {
  EXPECT_THAT(grace_periods(teardown_plan(slice_with_grace().terminating(1))),
              ElementsAre(Pair("train-0", -1), Pair("train-2", -1)));
  EXPECT_THAT(grace_periods(teardown_plan(slice_with_grace().host(1, deleted_for("EvictionByEvictionAPI")))),
              ElementsAre(Pair("train-0", -1), Pair("train-2", -1)));
}

TEST(TeardownGrace, IsThePodsOwnIfTheSliceIsPreempted) {
  const auto preempted = deleted_for(tpu::kPreemptionBySlice);
  EXPECT_THAT(grace_periods(teardown_plan(slice_with_grace().host(1, preempted))),
              ElementsAre(Pair("train-0", -1), Pair("train-2", -1)));
}

TEST(TeardownGrace, IsThatOfTheAnnotationIfKubernetesEvictsTheLostPodFirst) {
  EXPECT_THAT(grace_periods(teardown_plan(slice_with_grace().host(1, deleted_for(kByTaint)))),
              ElementsAre(Pair("train-0", 3), Pair("train-2", 3)));
}

TEST(TeardownGrace, IsNotThatOfTerminatingPods) {
  EXPECT_THAT(grace_periods(teardown_plan(slice_with_grace().fails(1).terminating(0))),
              ElementsAre(Pair("train-2", 3)));
  EXPECT_TRUE(teardown_plan(slice_with_grace().fails(1).terminating(0).terminating(2)).empty());
}

}  // namespace
}  // namespace tpuslice::slice
