#include "fleet/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/model.h"
#include "tests/support/error_matchers.h"
#include "tests/support/fleet_document.h"
#include "tests/unit/fleet/queries.h"

namespace tpuslice::fleet {
namespace {

using namespace std::chrono_literals;
using testing::FleetDocument;
using ::testing::HasSubstr;

Snapshot two_pools() {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).pool({.name = "v6e-b"});
  document.slice({.workload = "train", .pool = "v6e-a"}).slice({.workload = "next", .since = 5min});
  return *read_snapshot(document.json());
}

Change change(std::string_view verb, std::string_view subject) {
  const auto read = read_change(verb, subject, two_pools(), "default");
  EXPECT_TRUE(read.ok()) << read.error().message();
  return *read;
}

TEST(Changes, ADrainCordonsThePoolAndEndsItsSlice) {
  const Snapshot after = with_change(two_pools(), change("drain", "pool/v6e-a"));
  for (const NodePtr& node : after.nodes) {
    EXPECT_EQ(node->unschedulable, node->key.name.starts_with("v6e-a")) << node->key.name;
  }
  const Fleet fleet = build_fleet(after);
  EXPECT_EQ(slice_of(fleet, "train").state, SliceState::kWaiting);
  EXPECT_EQ(slice_of(fleet, "train").pool, "v6e-b") << "it has waited for longer than the other";
  EXPECT_EQ(slice_of(fleet, "next").code, "NodesInUse") << slice_of(fleet, "next").reason;
}

TEST(Changes, ALostNodeEndsTheWholeSlice) {
  const Snapshot after = with_change(two_pools(), change("lose", "node/v6e-a-2"));
  EXPECT_EQ(slice_of(build_fleet(after), "train").pool, "v6e-b");
  EXPECT_EQ(after.pods.size(), two_pools().pods.size());
}

TEST(Changes, ARepairedPoolIsUsed) {
  FleetDocument document;
  document.pool({.name = "v6e-a", .not_ready = {1}, .cordoned = {2}}).slice({.workload = "next"});
  const Snapshot before = *read_snapshot(document.json());
  const Change repair = *read_change("repair", "pool/v6e-a", before, "");
  EXPECT_EQ(slice_of(build_fleet(before), "next").code, "NodesNotUsable");
  EXPECT_EQ(slice_of(build_fleet(with_change(before, repair)), "next").pool, "v6e-a");
}

TEST(Changes, ARepairLeavesTheTaintsOfAdministrators) {
  FleetDocument document;
  document.pool({.name = "v6e-a"});
  Json nodes = document.json()["nodes"];
  const auto taint = [](const char* key) { return Json{{"key", key}, {"value", "x"}, {"effect", "NoSchedule"}}; };
  nodes[0]["spec"]["taints"] =
      Json::array({taint("google.com/tpu"), taint("team"), taint("node.kubernetes.io/unschedulable"),
                   taint("ToBeDeletedByClusterAutoscaler"), taint("cloud.google.com/impending-node-termination")});
  document.set("nodes", nodes);
  const Snapshot before = *read_snapshot(document.json());
  const Snapshot after = with_change(before, *read_change("repair", "pool/v6e-a", before, ""));
  std::vector<std::string> keys;
  for (const NodeTaint& each : after.nodes.front()->taints) keys.push_back(each.key);
  EXPECT_THAT(keys, ::testing::UnorderedElementsAre("google.com/tpu", "team"));
}

TEST(Changes, ADeletedWorkloadFreesItsPool) {
  const Snapshot after = with_change(two_pools(), change("delete", "jobset/train"));
  EXPECT_EQ(after.pods.size(), 4U);
  EXPECT_EQ(build_fleet(after).slices.size(), 1U);
}

TEST(Changes, SettlingPlacesWhatFits) {
  const Fleet fleet = build_fleet(settled(two_pools()));
  EXPECT_EQ(slice_of(fleet, "next").state, SliceState::kPlaced);
  EXPECT_EQ(slice_of(fleet, "next").pool, "v6e-b");
  EXPECT_EQ(slice_of(fleet, "train").pool, "v6e-a");
}

TEST(Changes, SettlingPreemptsForHigherPriorities) {
  FleetDocument document;
  document.option("maxPreemptionsPerHour", 5);
  document.set("preemptions",
               {{"metadata", {{"name", "tpu-slice-preemptions"}, {"namespace", "tpu-slice-system"}, {"uid", "u"}}}});
  document.pool({.name = "v6e-a"}).slice({.workload = "low", .pool = "v6e-a"});
  document.slice({.workload = "high", .priority = 10});
  const Fleet fleet = build_fleet(settled(*read_snapshot(document.json())));
  EXPECT_EQ(slice_of(fleet, "high").pool, "v6e-a");
  EXPECT_EQ(slice_of(fleet, "low").state, SliceState::kWaiting);
}

TEST(Changes, ErrorsSayWhatWouldBeRight) {
  const Snapshot snapshot = two_pools();
  EXPECT_THAT(read_change("drain", "pool/none", snapshot, "").error().message(),
              HasSubstr("pool none has no TPU nodes"));
  EXPECT_THAT(read_change("drain", "node/none", snapshot, "").error().message(), HasSubstr("node none does not exist"));
  EXPECT_THAT(read_change("drain", "jobset/x", snapshot, "").error().message(), HasSubstr("expected pool/<name>"));
  EXPECT_THAT(read_change("delete", "jobset/none", snapshot, "ml").error().message(), HasSubstr("in namespace ml"));
  EXPECT_THAT(read_change("paint", "pool/v6e-a", snapshot, "").error().message(), HasSubstr("expected drain"));
  EXPECT_THAT(read_change("drain", "v6e-a", snapshot, "").error().message(), HasSubstr("<kind>/<name>"));
}

}  // namespace
}  // namespace tpuslice::fleet
