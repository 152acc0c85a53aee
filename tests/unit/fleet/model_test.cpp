#include "fleet/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fleet_document.h"
#include "tests/unit/fleet/queries.h"

namespace tpuslice::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FleetDocument;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Fleet fleet_of(const FleetDocument& document) { return build_fleet(*read_snapshot(document.json())); }

TEST(Fleet, HasPoolsWithTheirUsers) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).pool({.name = "v6e-b", .spot = true});
  document.slice({.workload = "train", .namespace_name = "ml", .pool = "v6e-a", .since = 52min});
  const Fleet fleet = fleet_of(document);
  const Pool& used = pool_named(fleet, "v6e-a");
  EXPECT_EQ(used.state, PoolState::kInUse);
  EXPECT_EQ(used.hosts, "uuuu");
  EXPECT_EQ(used.chips, 16);
  EXPECT_EQ(used.since, FleetDocument::now() - 52min);
  EXPECT_THAT(used.users, ElementsAre(PoolUser{{"ml", "JobSet", "train"}, "train-0", false}));
  const Pool& free = pool_named(fleet, "v6e-b");
  EXPECT_EQ(free.state, PoolState::kFree);
  EXPECT_EQ(free.hosts, "ffff");
  EXPECT_EQ(free.capacity, "spot");
  EXPECT_EQ(free.tpu, "v6e");
}

TEST(Fleet, ABrokenPoolSaysWhichNodeAndSinceWhen) {
  FleetDocument document;
  document.pool({.name = "v6e-a", .not_ready = {1}});
  document.pool({.name = "v6e-b", .missing = {3}});
  document.pool({.name = "v6e-c", .cordoned = {0, 2}});
  const Fleet fleet = fleet_of(document);
  EXPECT_EQ(pool_named(fleet, "v6e-a").state, PoolState::kBroken);
  EXPECT_EQ(pool_named(fleet, "v6e-a").hosts, "fbff");
  EXPECT_EQ(pool_named(fleet, "v6e-a").problem, "node v6e-a-1 is not Ready");
  EXPECT_EQ(pool_named(fleet, "v6e-a").since, FleetDocument::now() - 6h);
  EXPECT_EQ(pool_named(fleet, "v6e-b").problem, "3 of 4 nodes exist");
  EXPECT_EQ(pool_named(fleet, "v6e-b").chips, 16);
  EXPECT_EQ(pool_named(fleet, "v6e-c").state, PoolState::kDraining);
  EXPECT_EQ(pool_named(fleet, "v6e-c").problem, "node v6e-c-0 is cordoned, and 1 more node");
  ASSERT_EQ(fleet.attention.size(), 3U);
  EXPECT_EQ(fleet.attention[0].text, "node v6e-a-1 is not Ready for 6h: 16 chips idle");
  EXPECT_EQ(fleet.attention[0].command, "kubectl tpu explain pool/v6e-a");
}

TEST(Fleet, AnUnusedNodeOfABrokenPoolStaysInUse) {
  FleetDocument document;
  document.pool({.name = "v6e-a", .not_ready = {1}}).slice({.workload = "train", .pool = "v6e-a"});
  const Pool pool = fleet_of(document).pools.front();
  EXPECT_EQ(pool.state, PoolState::kBroken);
  EXPECT_EQ(pool.hosts, "ubuu");
  EXPECT_EQ(pool.used_hosts, 4);
  EXPECT_EQ(pool.users.size(), 1U);
}

TEST(Fleet, QueuedSlicesHavePositionsAndThoseBeforeThem) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a"});
  document.slice({.workload = "first", .since = 40min});
  document.slice({.workload = "second", .namespace_name = "nlp", .since = 20min});
  document.slice({.workload = "third", .since = 10min});
  const Fleet fleet = fleet_of(document);
  EXPECT_EQ(slice_of(fleet, "first").position, 1);
  EXPECT_EQ(slice_of(fleet, "first").code, "NodesInUse");
  EXPECT_THAT(slice_of(fleet, "first").behind, IsEmpty());
  EXPECT_EQ(slice_of(fleet, "third").position, 3);
  EXPECT_EQ(slice_of(fleet, "third").code, "QueuedBehind");
  EXPECT_THAT(slice_of(fleet, "third").behind, ElementsAre("nlp/jobset/second", "default/jobset/first"));
  EXPECT_FALSE(slice_of(fleet, "third").never);
  EXPECT_EQ(fleet.slices.front().workload.name, "first") << "the queue comes first";
}

TEST(Fleet, SlicesOfDifferentRequirementsWaitInOneQueueForOnePool) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a"});
  document.slice({.workload = "first", .since = 40min}).slice({.workload = "second", .since = 20min});
  Json json = document.json();
  for (Json& pod : json["pods"]) {
    if (string_at(pod, {"metadata", "name"}).starts_with("second")) {
      pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "100";
    }
  }
  const Fleet fleet = build_fleet(*read_snapshot(json));
  EXPECT_EQ(slice_of(fleet, "second").position, 2);
  EXPECT_THAT(slice_of(fleet, "second").behind, ElementsAre("default/jobset/first"));
}

TEST(Fleet, ASliceForWhichAPoolIsFreeIsPlacedNext) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).slice({.workload = "next"});
  const Fleet fleet = fleet_of(document);
  EXPECT_EQ(slice_of(fleet, "next").state, SliceState::kWaiting);
  EXPECT_EQ(slice_of(fleet, "next").code, "");
  EXPECT_EQ(slice_of(fleet, "next").pool, "v6e-a");
  EXPECT_EQ(pool_named(fleet, "v6e-a").state, PoolState::kInUse);
}

TEST(Fleet, AGangReservesWhatIsFree) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).pool({.name = "v6e-b"}).slice({.workload = "train", .pool = "v6e-a"});
  document.slice({.workload = "big", .slice = "big-0", .gang = 2, .since = 10min});
  document.slice({.workload = "big", .slice = "big-1", .gang = 2, .since = 10min});
  document.slice({.workload = "small", .since = 5min});
  const Fleet fleet = fleet_of(document);
  const Pool& pool = pool_named(fleet, "v6e-b");
  EXPECT_EQ(pool.state, PoolState::kReserved);
  EXPECT_EQ(pool.hosts, "rrrr");
  EXPECT_EQ(pool.until, FleetDocument::now() + 20min);
  EXPECT_THAT(pool.users, ElementsAre(PoolUser{{"default", "JobSet", "big"}, "big-0", true}));
  EXPECT_EQ(slice_of(fleet, "big").position, 1);
  EXPECT_EQ(slice_of(fleet, "small").position, 2);
  EXPECT_THAT(slice_of(fleet, "small").behind, ElementsAre("default/jobset/big"));
}

TEST(Fleet, ASliceWithoutAnyMatchingPoolNeverStarts) {
  FleetDocument document;
  document.pool({.name = "v6e-a"});
  document.slice({.workload = "serve", .accelerator = "tpu-v5-lite-podslice", .topology = "4x8", .hosts = 8});
  const Fleet fleet = fleet_of(document);
  EXPECT_TRUE(slice_of(fleet, "serve").never);
  EXPECT_EQ(slice_of(fleet, "serve").code, "NoMatchingNodes");
  ASSERT_EQ(fleet.attention.size(), 1U);
  EXPECT_EQ(fleet.attention[0].about, "jobset/serve");
}

TEST(Fleet, AGangLargerThanTheClusterNeverStarts) {
  FleetDocument document;
  document.pool({.name = "v6e-a"});
  document.slice({.workload = "big", .slice = "big-0", .gang = 2})
      .slice({.workload = "big", .slice = "big-1", .gang = 2});
  EXPECT_TRUE(slice_of(fleet_of(document), "big").never);
}

TEST(Fleet, ScoutsThatWereAskedForMakeItPossible) {
  FleetDocument document;
  document.option("scaleUp", "scout").pool({.name = "v6e-a"});
  document.slice({.workload = "big", .slice = "big-0", .gang = 2})
      .slice({.workload = "big", .slice = "big-1", .gang = 2});
  const Fleet fleet = fleet_of(document);
  std::vector<std::string> codes;
  for (const FleetSlice& slice : fleet.slices) {
    EXPECT_FALSE(slice.never) << slice.key;
    codes.push_back(slice.code);
  }
  EXPECT_THAT(codes, ElementsAre("NodesInUse", "NodesRequested")) << "one pool is free";
}

TEST(Fleet, SlicesWithNodesSayWhatKeepsThemFromRunning) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).pool({.name = "v6e-b"}).pool({.name = "v6e-c"}).pool({.name = "v6e-d"});
  document.slice({.workload = "pulls", .pool = "v6e-a", .ready = 0, .stuck = "ImagePullBackOff", .since = 52min});
  document.slice({.workload = "broken", .pool = "v6e-b", .failed = "OOMKilled"});
  document.slice({.workload = "runs", .pool = "v6e-c"});
  document.slice({.workload = "ends", .pool = "v6e-d", .terminating = true});
  const Fleet fleet = fleet_of(document);
  EXPECT_EQ(slice_of(fleet, "pulls").state, SliceState::kPlaced);
  EXPECT_EQ(slice_of(fleet, "pulls").ready, 0);
  EXPECT_EQ(slice_of(fleet, "pulls").problem, "host 1: container main: ImagePullBackOff");
  EXPECT_EQ(slice_of(fleet, "broken").state, SliceState::kRestarting);
  EXPECT_THAT(slice_of(fleet, "broken").problem, HasSubstr("OOMKilled, exit code 137"));
  EXPECT_EQ(slice_of(fleet, "runs").state, SliceState::kRunning);
  EXPECT_EQ(slice_of(fleet, "ends").state, SliceState::kEnding);
  EXPECT_EQ(fleet.attention.size(), 2U);
}

TEST(Fleet, AFinishedSliceIsDone) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a", .succeeded = true});
  const Fleet fleet = fleet_of(document);
  EXPECT_EQ(slice_of(fleet, "train").state, SliceState::kDone);
  EXPECT_EQ(pool_named(fleet, "v6e-a").state, PoolState::kFree);
}

TEST(Fleet, NamesTheRayJobAndNotItsCluster) {
  FleetDocument document;
  document.pool({.name = "v6e-a"});
  document.slice({.workload = "train-x7k", .kind = "RayCluster", .api_version = "ray.io/v1", .pool = "v6e-a"});
  document.workload("RayCluster", "train-x7k", "RayJob", "train").workload("RayJob", "train", "RayCronJob", "nightly");
  EXPECT_EQ(fleet_of(document).slices.front().workload, (WorkloadName{"default", "RayJob", "train"}))
      << "a RayJob is a run of its own";
}

TEST(Fleet, APoolWithADeadlineSaysWhenItEnds) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a", .deadline = 3600, .since = 10min});
  EXPECT_EQ(fleet_of(document).pools.front().until, FleetDocument::now() + 52min) << "two minutes to start and stop";
}

TEST(Fleet, WithoutNodesTheReasonsAreThoseOfThePods) {
  FleetDocument document;
  document.slice({.workload = "next", .waiting = "2 node pools match, none is free"});
  document.set("missing", Json::array({Json{{"resource", "nodes"}}}));
  const Fleet fleet = fleet_of(document);
  EXPECT_EQ(slice_of(fleet, "next").reason, "2 node pools match, none is free");
  EXPECT_EQ(slice_of(fleet, "next").code, "NodesInUse");
  EXPECT_EQ(slice_of(fleet, "next").position, 0);
  EXPECT_FALSE(slice_of(fleet, "next").never);
}

TEST(Fleet, CountsTheFailuresOfADay) {
  FleetDocument document;
  document.pool({.name = "v6e-a"});
  document.history({{"time", "2026-01-01T02:00:00Z"}, {"pool", "v6e-a"}, {"what", "TornDown"}});
  document.history({{"time", "2025-12-31T02:00:00Z"}, {"pool", "v6e-a"}, {"what", "TornDown"}});
  document.history({{"time", "2026-01-01T03:00:00Z"}, {"pool", "v6e-a"}, {"what", "Preempted"}});
  EXPECT_EQ(fleet_of(document).pools.front().failures, 1);
}

}  // namespace
}  // namespace tpuslice::fleet
