// How long the pods of a group may take to stop when the group is restarted.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tests/support/leaderworkerset/world.h"
#include "tpu/labels.h"

namespace tpuslice::leaderworkerset {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

/// Two groups of three pods.
World world_with_grace() {
  World serve = stable_world(a_set("serve").replicas(2).size(3));
  for (const char* name : {"serve-0", "serve-0-1", "serve-0-2"}) {
    serve.pods().at(name)["metadata"]["annotations"][std::string(tpu::kTeardownGrace)] = "3";
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
  serve.restart_container("serve-0-1");
  EXPECT_THAT(grace_periods(serve), ElementsAre(Pair("serve-0", 3), Pair("serve-0-1", 3), Pair("serve-0-2", 3)));
  serve = world_with_grace();
  serve.pods().at("serve-0-2")["status"]["phase"] = "Failed";
  EXPECT_THAT(grace_periods(serve), ElementsAre(Pair("serve-0", 3), Pair("serve-0-1", 3), Pair("serve-0-2", -1)))
      << "the failed pod is deleted at once";
}

TEST(GroupTeardownGrace, IsNotThatOfTerminatingWorkers) {
  World serve = world_with_grace();
  serve.restart_container("serve-0-1");
  serve.terminate_pod("serve-0-2");
  EXPECT_THAT(grace_periods(serve), ElementsAre(Pair("serve-0", 3), Pair("serve-0-1", 3)));
}

TEST(GroupTeardownGrace, IsThePodsOwnIfAPodWasDeletedOnPurpose) {
  World serve = world_with_grace();
  serve.terminate_pod("serve-0-1");
  EXPECT_THAT(grace_periods(serve), ElementsAre(Pair("serve-0", -1), Pair("serve-0-2", -1)));
  serve.pods().at("serve-0-1")["status"]["conditions"].push_back(
      {{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "DeletionByTaintManager"}});
  EXPECT_THAT(grace_periods(serve), ElementsAre(Pair("serve-0", 3), Pair("serve-0-2", 3)));
}

TEST(GroupTeardownGrace, IsThePodsOwnInAnUpdate) {
  World serve = world_with_grace();
  serve.pods().at("serve-0")["metadata"]["labels"][std::string(kRevisionKey)] = "earlier";
  EXPECT_THAT(grace_periods(serve), ElementsAre(Pair("serve-0", -1), Pair("serve-0-1", -1), Pair("serve-0-2", -1)));
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
