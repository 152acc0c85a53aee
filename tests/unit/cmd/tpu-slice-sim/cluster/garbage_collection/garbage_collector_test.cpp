#include "tests/support/sim_fixture.h"

namespace tpuslice::sim {
namespace {

using testing::a_config_map;
using testing::a_pod;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using namespace std::chrono_literals;

class GarbageCollectorTest : public testing::SimFixture {
 protected:
  Json owner_with_pods(int pods) {
    Json owner = apply(a_config_map("owner"));
    for (int i = 0; i < pods; ++i) apply(a_pod("p" + std::to_string(i)).owned_by(owner));
    run_for(5s);
    return owner;
  }
};

TEST_F(GarbageCollectorTest, DeletesTheDependentsOfADeletedObject) {
  owner_with_pods(3);
  EXPECT_THAT(names("pods"), ElementsAre("p0", "p1", "p2"));
  ASSERT_TRUE(cluster_.remove("configmaps", {"default", "owner"}).ok());
  run_for(5s);
  EXPECT_THAT(names("pods"), IsEmpty());
}

TEST_F(GarbageCollectorTest, KeepsADependentWithAnotherOwner) {
  const Json first = apply(a_config_map("first"));
  const Json second = apply(a_config_map("second"));
  apply(a_pod("a").owned_by(first).append(
      "/metadata/ownerReferences",
      {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "second"}, {"uid", second["metadata"]["uid"]}}));
  run_for(1s);
  ASSERT_TRUE(cluster_.remove("configmaps", {"default", "first"}).ok());
  run_for(5s);
  EXPECT_THAT(names("pods"), ElementsAre("a"));
  ASSERT_TRUE(cluster_.remove("configmaps", {"default", "second"}).ok());
  run_for(5s);
  EXPECT_THAT(names("pods"), IsEmpty());
}

TEST_F(GarbageCollectorTest, TreatsAnOwnerWithAnotherUidAsAbsent) {
  Json owner = apply(a_config_map("owner"));
  owner["metadata"]["uid"] = "00000000-0000-4000-8000-000000000000";
  apply(a_pod("a").owned_by(owner));
  run_for(5s);
  EXPECT_THAT(names("pods"), IsEmpty());
}

TEST_F(GarbageCollectorTest, DelaysAForegroundDeletionUntilTheDependentsAreDeleted) {
  owner_with_pods(2);
  ASSERT_TRUE(cluster_.remove("configmaps", {"default", "owner"}, "Foreground").ok());
  run_for(100ms);
  EXPECT_THAT(names("configmaps", "default"), Contains("owner"));
  run_for(5s);
  EXPECT_THAT(names("pods"), IsEmpty());
  EXPECT_THAT(names("configmaps", "default"), Not(Contains("owner")));
}

TEST_F(GarbageCollectorTest, OrphansDependentsOnRequest) {
  owner_with_pods(2);
  ASSERT_TRUE(cluster_.remove("configmaps", {"default", "owner"}, "Orphan").ok());
  run_for(5s);
  EXPECT_THAT(names("configmaps", "default"), Not(Contains("owner")));
  EXPECT_THAT(names("pods"), ElementsAre("p0", "p1"));
  EXPECT_FALSE(pod("p0")["metadata"].contains("ownerReferences"));
}

TEST_F(GarbageCollectorTest, DeletesTheContentOfATerminatingNamespace) {
  apply({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "team"}}}});
  apply(a_pod("a").in("team"));
  apply(a_config_map("c", "team"));
  run_for(5s);
  EXPECT_THAT(names("configmaps", "team"), ElementsAre("c", "kube-root-ca.crt"));
  EXPECT_THAT(names("serviceaccounts", "team"), ElementsAre("default"));
  ASSERT_TRUE(cluster_.remove("namespaces", {"", "team"}).ok());
  run_for(5s);
  EXPECT_THAT(names("pods", "team"), IsEmpty());
  EXPECT_THAT(names("configmaps", "team"), IsEmpty());
  EXPECT_THAT(names("namespaces"), Not(Contains("team")));
  EXPECT_THAT(names("namespaces"), IsSupersetOf({"default", "kube-system", "kube-public", "kube-node-lease"}));
}

}  // namespace
}  // namespace tpuslice::sim
