// The history of interruptions outlives events, leaders and crashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/history/ring.h"
#include "tests/support/ray_world.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

OperatorOptions recording(const std::string& identity = "operator-a", bool leader_elect = false) {
  OperatorOptions options;
  options.identity = identity;
  options.leader_elect = leader_elect;
  options.seed = identity.size() + static_cast<std::uint64_t>(identity.back());
  options.history = true;
  return options;
}

/// The records, in order.
std::vector<history::Record> records_of(const OperatorWorld& world) {
  std::array<std::string, history::kPages> pages;
  for (std::size_t page = 0; page < history::kPages; ++page) {
    const ObjectKey key{"tpu-slice-system", fmt::format("tpu-slice-history-{}", page)};
    const sim::JsonPtr found = world.cluster.get("configmaps", key);
    if (found != nullptr) pages.at(page) = string_at(*found, {"data", "records"});
  }
  std::vector<history::Record> out;
  const history::Ring ring(pages);
  for (const auto& [sequence, record] : ring.records()) out.push_back(record);
  return out;
}

void fail_worker(RayWorld& world, int host, int exit_code) {
  const std::set<std::string> before = world.worker_uids();
  ASSERT_TRUE(world.cluster.fail_pod(world.worker(host), exit_code).ok());
  ASSERT_TRUE(world.run_until([&] { return world.is_ready() && world.worker_uids() != before; })) << world.digest();
}

TEST(History, HasWhatBrokeAndWhenItRanAgain) {
  RayWorld world;
  world.start_operator(recording());
  world.apply_tutorial();
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(); })) << world.digest();
  world.run_for(10min);
  fail_worker(world, 2, 137);
  world.run_for(1min);
  const std::vector<history::Record> records = records_of(world);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].kind, "RayCluster");
  EXPECT_EQ(records[0].name, kTutorial.name);
  EXPECT_EQ(records[0].what, "TornDown");
  EXPECT_EQ(records[0].host, 2);
  EXPECT_EQ(records[0].exit_code, 137);
  EXPECT_NE(records[0].node, "");
  EXPECT_NE(records[0].pool, "");
  EXPECT_GE(records[0].host_seconds, 4 * 600);
  EXPECT_LE(records[0].host_seconds, 4 * 700);
  ASSERT_TRUE(records[0].recovery);
  EXPECT_LE(records[0].recovery->time - records[0].time, 1min);
  EXPECT_NE(records[0].recovery->pool, "");
}

TEST(History, PassesToTheNextLeader) {
  RayWorld world;
  world.start_operator(recording("a", true));
  world.start_operator(recording("b", true));
  world.apply_tutorial();
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(); })) << world.digest();
  fail_worker(world, 1, 3);
  world.run_for(1min);
  ASSERT_THAT(records_of(world), SizeIs(1));
  const bool first_leads = world.operators[0]->manager().leading();
  world.operators.erase(world.operators.begin() + (first_leads ? 0 : 1));
  world.run_for(1min);
  fail_worker(world, 0, 4);
  world.run_for(1min);
  const std::vector<history::Record> records = records_of(world);
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].exit_code, 3);
  EXPECT_EQ(records[1].exit_code, 4);
  EXPECT_EQ(records[1].sequence, 1);
  for (const history::Record& record : records) EXPECT_TRUE(record.recovery);
}

/// The operator is killed at each of its writes after a host has failed, and another takes its place.
TEST(History, HasNoInterruptionTwiceAfterACrash) {
  int recorded = 0;
  for (std::int64_t write = 1; write <= 16; ++write) {
    for (const bool before_server : {false, true}) {
      SCOPED_TRACE(fmt::format("write {}, before the server {}", write, before_server));
      RayWorld world;
      world.replacement = recording();
      world.start_operator(recording());
      world.apply_tutorial();
      ASSERT_TRUE(world.run_until([&] { return world.is_ready(); })) << world.digest();
      world.kill_operators();
      OperatorOptions dying = recording();
      dying.faults.die_at_write = write;
      dying.faults.die_before_server = before_server;
      world.start_operator(dying);
      world.run_for(5s);
      fail_worker(world, 3, 137);
      world.run_for(1min);
      const std::vector<history::Record> records = records_of(world);
      EXPECT_LE(records.size(), 1U);
      recorded += static_cast<int>(records.size());
      for (const history::Record& record : records) EXPECT_TRUE(record.recovery) << record.why;
      EXPECT_THAT(world.violations, IsEmpty());
    }
  }
  EXPECT_GT(recorded, 16) << "most crashes lose nothing";
}

TEST(History, CostsAnIdleClusterNoWrite) {
  RayWorld world;
  world.start_operator(recording());
  world.apply_tutorial();
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(); })) << world.digest();
  fail_worker(world, 1, 1);
  world.run_for(1min);
  const std::int64_t writes = world.operators[0]->faults().writes();
  world.run_for(1h);
  EXPECT_EQ(world.operators[0]->faults().writes(), writes);
}

}  // namespace
}  // namespace tpuslice::testing
