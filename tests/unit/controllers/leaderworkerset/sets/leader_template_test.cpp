// The pod template of a leader set that another client changes.
#include "controllers/leaderworkerset/sets/leader_template.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/sets/leader_set.h"
#include "tests/support/leaderworkerset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::leaderworkerset {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kTemplateHash{kLeaderTemplate};

Json& image_of(World& world) { return world.leader_set()["spec"]["template"]["spec"]["containers"][0]["image"]; }

/// The patch of the leader set; null if there is none.
Json leader_set_patch(const plan::Plan& plan) {
  constexpr const char* kPatch = "patch StatefulSet serve";
  const std::vector<std::string> writes = writes_of(plan);
  if (std::ranges::find(writes, kPatch) == writes.end()) return {};
  return action_of(plan, kPatch).body.make().value();
}

std::vector<std::string> restorations(const plan::Plan& plan) {
  std::vector<std::string> out;
  for (const plan::EventIntent& event : plan::events_of(plan)) {
    if (event.reason == "LeaderTemplateRestored") out.push_back(event.message);
  }
  return out;
}

/// Adds a container, as an admission webhook would.
void complete_template(World& world) {
  world.leader_set()["spec"]["template"]["spec"]["containers"].push_back({{"name", "sidecar"}, {"image", "mesh"}});
}

TEST(LeaderTemplate, IsRestoredAfterAChangeByAnotherClient) {
  World serve = stable_world();
  const Json before = serve.leader_set()["spec"]["template"];
  const World::Objects pods = serve.pods();
  image_of(serve) = "foreign";
  serve.leader_set()["spec"]["template"]["metadata"]["labels"][std::string(kRevisionKey)] = "foreign";
  const plan::Plan plan = serve.step();
  EXPECT_THAT(writes_of(plan), ElementsAre("patch StatefulSet serve"));
  EXPECT_EQ(action_of(plan, "patch StatefulSet serve").preconditions.uid, plan::uid_of(serve.leader_set()));
  EXPECT_EQ(serve.leader_set()["spec"]["template"], before);
  EXPECT_THAT(restorations(plan),
              ElementsAre("Restored the pod template of leader statefulset serve, of which another client had changed "
                          "metadata.labels, spec.containers: change the LeaderWorkerSet instead"));
  EXPECT_EQ(serve.pods(), pods) << "no group is restarted";
  serve.settle();
  image_of(serve) = "foreign";
  serve.step();
  EXPECT_EQ(serve.leader_set()["spec"]["template"], before) << "the same change is restored again";
}

TEST(LeaderTemplate, IsRecordedOnceAndThenNothingIsWritten) {
  World serve(a_set("serve").replicas(2).size(2).json());
  serve.step();
  EXPECT_FALSE(serve.leader_set()["metadata"]["annotations"].contains(kTemplateHash))
      << "what the API server made of it is not known yet";
  const plan::Plan second = serve.step();
  ASSERT_THAT(writes_of(second), Contains("patch StatefulSet serve"));
  const Json patch = leader_set_patch(second);
  EXPECT_TRUE(patch["metadata"]["annotations"].contains(kTemplateHash)) << patch;
  EXPECT_FALSE(patch.contains("spec")) << patch;
  EXPECT_TRUE(leader_set_patch(serve.plan()).is_null());
}

TEST(LeaderTemplate, KeepsWhatOthersAddToIt) {
  World serve = stable_world();
  Json& pods = serve.leader_set()["spec"]["template"];
  pods["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"] = "2027-01-15T08:00:00Z";
  pods["spec"]["containers"][0]["imagePullPolicy"] = "Always";
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty());
}

TEST(LeaderTemplate, OfAnotherManagerOrVersionStays) {
  World serve = stable_world();
  serve.leader_set()["metadata"]["annotations"].erase(kTemplateHash);
  Json& annotations = serve.leader_set()["spec"]["template"]["metadata"]["annotations"];
  const Json size = annotations[std::string(kLwsSize)];
  annotations.erase(std::string(kLwsSize));
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty()) << "all leaders would be recreated";
  annotations[std::string(kLwsSize)] = size;
  EXPECT_EQ(leader_set_patch(serve.plan())["spec"], Json()) << "one that is as we write it is recorded";
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("patch StatefulSet serve"));
}

TEST(LeaderTemplate, ThatAWebhookCompletesStays) {
  World serve(a_set("serve").replicas(1).size(1).json());
  serve.step();
  complete_template(serve);
  serve.settle();
  EXPECT_EQ(serve.leader_set()["spec"]["template"]["spec"]["containers"].size(), 2U);
  EXPECT_FALSE(serve.leader_set()["metadata"]["annotations"].contains(kTemplateHash));
}

TEST(LeaderTemplate, IsRestoredOnceIfAWebhookChangesItAgain) {
  World serve = stable_world();
  complete_template(serve);
  EXPECT_EQ(restorations(serve.step()).size(), 1U);
  complete_template(serve);
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty()) << "the webhook would change it for ever";
}

TEST(LeaderTemplate, IsComparedAgainAfterARollout) {
  World serve = stable_world();
  serve.change_set("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image", "second");
  serve.step();
  EXPECT_FALSE(serve.leader_set()["metadata"]["annotations"].contains(kTemplateHash)) << "of the earlier template";
  serve.settle();
  image_of(serve) = "foreign";
  serve.step();
  EXPECT_EQ(image_of(serve), "second");
}

TEST(LeaderTemplate, IsNotChangedForAnAnnotationThatStartsNoRollout) {
  World serve = stable_world();
  serve.change_set("/metadata/annotations", {{std::string(kExclusiveTopology), "cloud.google.com/gke-nodepool"}});
  const Json before = serve.leader_set()["spec"]["template"];
  serve.settle();
  EXPECT_EQ(serve.leader_set()["spec"]["template"], before);
}

TEST(LeaderTemplate, HashOfAUserIsNotCopiedFromTheSet) {
  World serve = stable_world(a_set("serve").replicas(1).size(1).annotation(kTemplateHash, "mine"));
  const Json recorded = serve.leader_set()["metadata"]["annotations"][kTemplateHash];
  EXPECT_NE(recorded, "mine");
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
