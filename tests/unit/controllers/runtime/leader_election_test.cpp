#include "controllers/runtime/leader_election.h"

#include <gtest/gtest.h>

#include "api/base/clock.h"
#include "tests/support/fake_api.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using tpuslice::testing::FakeApi;

/// One replica, with a clock and random numbers of its own.
struct Replica {
  Replica(FakeApi& api, const std::string& identity)
      : elector({.identity = identity}, api, api, clock, random, metrics, Logger()) {}
  Instant step() { return elector.step(clock.now(), {}); }
  [[nodiscard]] bool leading() const { return elector.leading(clock.now()); }
  [[nodiscard]] bool lost() const { return elector.lost(clock.now()); }
  void advance(Duration by) {
    clock.advance(by);
    step();
  }

  FakeClock clock;
  Random random{7};
  Metrics metrics;
  LeaderElector elector;
};

class LeaderElectionTest : public ::testing::Test {
 protected:
  Json spec() const { return api_.find(kLeases, {"tpu-slice-system", "tpu-slice-operator"})->json()["spec"]; }
  void advance(Duration by) {
    for (Duration passed = 0s; passed < by; passed += 1s) {
      a_.advance(1s);
      b_.advance(1s);
      EXPECT_FALSE(a_.leading() && b_.leading());
    }
  }

  FakeApi api_;
  Replica a_{api_, "a"};
  Replica b_{api_, "b"};
};

TEST_F(LeaderElectionTest, TheFirstReplicaLeadsAndRenews) {
  a_.step();
  b_.step();
  EXPECT_TRUE(a_.leading());
  EXPECT_FALSE(b_.leading());
  advance(5min);
  EXPECT_TRUE(a_.leading());
  EXPECT_EQ(b_.elector.holder(), "a");
  EXPECT_EQ(spec()["holderIdentity"], "a");
  EXPECT_EQ(spec()["leaseDurationSeconds"], 15);
  EXPECT_NE(a_.metrics.scrape().find("leader_election_master_status{name=\"tpu-slice-operator\"} 1"),
            std::string::npos);
}

TEST(LeaderElection, AReplicaThatMayNotAcquireYetReadsTheLeaseAndAcquiresItAtOnceAfterwards) {
  FakeApi api;
  FakeClock clock;
  Random random(7);
  Metrics metrics;
  bool may_acquire = false;
  LeaderElector elector({.identity = "a", .may_acquire = [&] { return may_acquire; }}, api, api, clock, random, metrics,
                        Logger());
  elector.step(clock.now(), {});
  EXPECT_EQ(api.calls().size(), 1U);
  EXPECT_TRUE(api.writes().empty());
  EXPECT_FALSE(elector.leading(clock.now()));
  may_acquire = true;
  elector.step(clock.now(), {});
  EXPECT_TRUE(elector.leading(clock.now())) << "without waiting for the next attempt";
  may_acquire = false;
  for (int i = 0; i < 30; ++i) {
    clock.advance(1s);
    elector.step(clock.now(), {});
  }
  EXPECT_TRUE(elector.leading(clock.now())) << "it renews the lease";
}

TEST_F(LeaderElectionTest, AnotherReplicaLeadsAfterTheLeaseExpires) {
  a_.step();
  b_.step();
  for (int i = 0; i < 14; ++i) b_.advance(1s);
  EXPECT_FALSE(b_.leading());
  for (int i = 0; i < 7; ++i) b_.advance(1s);
  EXPECT_TRUE(b_.leading());
  EXPECT_EQ(spec()["leaseTransitions"], 1);
  a_.advance(25s);
  EXPECT_TRUE(a_.lost());
  EXPECT_FALSE(a_.leading());
  a_.advance(1h);
  EXPECT_FALSE(a_.leading()) << "a replica that lost its lease never leads again in this process";
}

TEST(LeaderElection, AReplicaThatStandsByAcquiresTheLeaseAgainWhenItMay) {
  FakeApi api;
  FakeClock clock;
  Random random(7);
  Metrics metrics;
  bool may_acquire = true;
  LeaderElector elector({.identity = "a", .may_acquire = [&] { return may_acquire; }, .stands_by = true}, api, api,
                        clock, random, metrics, Logger());
  elector.step(clock.now(), {});
  ASSERT_TRUE(elector.leading(clock.now()));
  may_acquire = false;  // Its workers still run.
  clock.advance(11s);
  EXPECT_NE(elector.step(clock.now(), {}), kNever);
  EXPECT_FALSE(elector.lost(clock.now()));
  EXPECT_TRUE(elector.healthy(clock.now()));
  for (int i = 0; i < 30; ++i) {
    clock.advance(1s);
    elector.step(clock.now(), {});
  }
  EXPECT_FALSE(elector.leading(clock.now()));
  may_acquire = true;
  elector.step(clock.now(), {});
  EXPECT_TRUE(elector.leading(clock.now()));
}

TEST_F(LeaderElectionTest, IgnoresTheClocksOfOtherReplicas) {
  // b's wall clock is a day ahead: by its timestamps a's lease looks long expired.
  b_.clock.advance(24h);
  a_.step();
  b_.step();
  EXPECT_FALSE(b_.leading());
  advance(2min);
  EXPECT_TRUE(a_.leading());
}

TEST_F(LeaderElectionTest, StopsLeadingByItsOwnClockWhenItCannotRenew) {
  a_.step();
  api_.fault = [](const FakeApi::Call&) { return Error::unavailable("no route"); };
  for (int i = 0; i < 9; ++i) a_.advance(1s);
  EXPECT_TRUE(a_.leading());
  a_.clock.advance(1s);
  EXPECT_FALSE(a_.leading()) << "without a step";
  EXPECT_EQ(a_.step(), kNever);
  EXPECT_TRUE(a_.lost());
}

TEST_F(LeaderElectionTest, SurvivesALostReply) {
  api_.lost_reply = [](const FakeApi::Call&) { return Error::of(ErrorCode::kTimeout, "no answer"); };
  a_.step();
  EXPECT_FALSE(a_.leading());
  api_.lost_reply = nullptr;
  for (int i = 0; i < 5; ++i) a_.advance(1s);
  EXPECT_TRUE(a_.leading());
  api_.lost_reply = [](const FakeApi::Call&) { return Error::of(ErrorCode::kTimeout, "no answer"); };
  a_.advance(2s);
  api_.lost_reply = nullptr;
  for (int i = 0; i < 30; ++i) a_.advance(1s);
  EXPECT_TRUE(a_.leading());
  EXPECT_EQ(spec()["leaseTransitions"], 0);
}

TEST_F(LeaderElectionTest, LosesTheLeaseToAnotherHolder) {
  a_.step();
  Object lease = *api_.find(kLeases, {"tpu-slice-system", "tpu-slice-operator"});
  lease.mutable_json()["spec"]["holderIdentity"] = "other";
  api_.put(kLeases, lease);
  a_.advance(2s);
  EXPECT_TRUE(a_.lost());
  EXPECT_EQ(spec()["holderIdentity"], "other");
}

TEST_F(LeaderElectionTest, AReleasedLeaseIsTakenWithoutWaiting) {
  a_.step();
  b_.step();
  a_.elector.release({});
  EXPECT_FALSE(a_.leading());
  EXPECT_FALSE(a_.lost());
  EXPECT_EQ(spec()["holderIdentity"], "");
  EXPECT_EQ(spec()["leaseDurationSeconds"], 1);
  for (int i = 0; i < 5; ++i) b_.advance(1s);
  EXPECT_TRUE(b_.leading());
}

TEST_F(LeaderElectionTest, OnlyOneReplicaCreatesTheLease) {
  // Neither finds a lease; b creates it before a does.
  bool b_stepped = false;
  api_.on_write = [&](const FakeApi::Call& call, const std::stop_token&) {
    if (call.verb == "create" && !b_stepped) {
      b_stepped = true;
      b_.step();
    }
  };
  a_.step();
  EXPECT_TRUE(b_.leading());
  EXPECT_FALSE(a_.leading());
}

TEST_F(LeaderElectionTest, IsUnhealthyIfItRunsLongAfterItsLeaseExpired) {
  EXPECT_TRUE(a_.elector.healthy(a_.clock.now()));
  a_.step();
  EXPECT_TRUE(a_.elector.healthy(a_.clock.now() + 15s));
  EXPECT_FALSE(a_.elector.healthy(a_.clock.now() + 20s));
}

// The renewal was cancelled by the stop of the election, and stored all the same.
TEST_F(LeaderElectionTest, ReleasesALeaseThatWasRenewedWithoutAnAnswer) {
  a_.step();
  api_.lost_reply = [](const FakeApi::Call&) { return Error::of(ErrorCode::kCancelled, "cancelled"); };
  a_.advance(2s);
  api_.lost_reply = nullptr;
  a_.elector.release({});
  EXPECT_EQ(spec()["holderIdentity"], "");
  b_.step();
  EXPECT_TRUE(b_.leading());
}

TEST_F(LeaderElectionTest, DoesNotReleaseTheLeaseOfAnotherReplica) {
  a_.step();
  Object lease = *api_.find(kLeases, {"tpu-slice-system", "tpu-slice-operator"});
  lease.mutable_json()["spec"]["holderIdentity"] = "other";
  api_.put(kLeases, lease);
  a_.elector.release({});
  EXPECT_EQ(spec()["holderIdentity"], "other");
}

}  // namespace
}  // namespace tpuslice::runtime
