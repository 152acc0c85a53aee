// How long the pods of a group may take to stop when the group is restarted.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tests/unit/controllers/leaderworkerset/world.h"
#include "tpu/labels.h"

namespace tpuslice::leaderworkerset {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

/// Two groups of three pods.
World world_with_grace() {
  World serve(a_set("serve").replicas(2).size(3));
  static_cast<void>(serve.plan());
  serve.record_members();
  for (const char* name : {"serve-0", "serve-0-1", "serve-0-2"}) {
    serve.change_pod(name, [](PodView& pod) {
      pod.node_name = "node-of-" + pod.key.name;
      pod.annotations[std::string(tpu::kTeardownGrace)] = "3";
    });
  }
  return serve;
}

/// The grace period of each deleted pod; -1 for the pod's own.
std::map<std::string, std::int64_t> grace_periods(World serve) {
  std::map<std::string, std::int64_t> out;
  for (const plan::Stage& stage : serve.plan().stages) {
    for (const plan::Action& action : stage.actions) {
      if (action.kind == plan::ActionKind::kDelete && action.type == kPods)
        out[action.key.name] = action.grace_seconds.value_or(-1);
    }
  }
  return out;
}

TEST(GroupTeardownGrace, IsThatOfTheAnnotationAfterAFailure) {
  World serve = world_with_grace();
  serve.change_pod("serve-0-1", [](PodView& pod) { pod.restarted = true; });
  EXPECT_THAT(grace_periods(serve), ElementsAre(Pair("serve-0", 3), Pair("serve-0-1", 3), Pair("serve-0-2", 3)));
  serve = world_with_grace();
  serve.change_pod("serve-0-2", [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  EXPECT_THAT(grace_periods(serve), ElementsAre(Pair("serve-0", 3), Pair("serve-0-1", 3), Pair("serve-0-2", -1)))
      << "the failed pod is deleted at once";
}

TEST(GroupTeardownGrace, ShortensThatOfTerminatingWorkers) {
  World serve = world_with_grace();
  serve.change_pod("serve-0-1", [](PodView& pod) { pod.restarted = true; });
  serve.change_pod("serve-0-2", [](PodView& pod) { pod.deletion = kToday; });
  EXPECT_THAT(grace_periods(serve), ElementsAre(Pair("serve-0", 3), Pair("serve-0-1", 3), Pair("serve-0-2", 3)));
}

TEST(GroupTeardownGrace, IsThePodsOwnIfAPodWasDeletedOnPurpose) {
  World serve = world_with_grace();
  serve.change_pod("serve-0-1", [](PodView& pod) { pod.deletion = kToday; });
  EXPECT_THAT(grace_periods(serve), ElementsAre(Pair("serve-0", -1), Pair("serve-0-2", -1)));
  serve.change_pod("serve-0-1", [](PodView& pod) { pod.disruption = "DeletionByTaintManager"; });
  EXPECT_THAT(grace_periods(serve), ElementsAre(Pair("serve-0", 3), Pair("serve-0-1", 3), Pair("serve-0-2", 3)));
}

TEST(GroupTeardownGrace, IsThePodsOwnInAnUpdate) {
  World serve = world_with_grace();
  serve.change_pod("serve-0", [](PodView& pod) { pod.labels[std::string(kRevisionKey)] = "earlier"; });
  EXPECT_THAT(grace_periods(serve), ElementsAre(Pair("serve-0", -1), Pair("serve-0-1", -1), Pair("serve-0-2", -1)));
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
