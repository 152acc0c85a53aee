// How long workloads wait for the other replica when the leader stops or crashes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/e2e/upgrade/two_replicas.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

class Takeover : public TwoReplicas {
 protected:
  Takeover() : TwoReplicas({.scheduler = false, .kwok = false}) {}

  /// Seconds from the leader's end until the other replica has created the Job of a JobSet.
  double takeover(const std::string& name, bool crash) {
    OperatorProcess* const leader = replicas_->leader();
    OperatorProcess* const other = replicas_->other_than(leader);
    const RealClock clock;
    const Instant begin = clock.now();
    const auto seconds = [&] { return std::chrono::duration<double>(clock.now() - begin).count(); };
    std::jthread end([&] {
      const Status removed = replicas_->remove(leader, crash);
      EXPECT_TRUE(removed.ok()) << removed.error().message();
    });
    EXPECT_TRUE(eventually([&] { return other->metric("leader_election_master_status").value_or(0) == 1; }, 60s));
    const double leads = seconds();
    create_jobset(name);
    EXPECT_TRUE(eventually([&] { return has_job(name); }, 60s));
    const double created = seconds();
    end.join();
    fmt::print("{}: the other replica leads after {:.1f} s, and has created a Job after {:.1f} s\n",
               crash ? "crash" : "stop", leads, created);
    return created;
  }
};

TEST_F(Takeover, DoesNotWaitForTheLeaseIfTheLeaderStops) { EXPECT_LT(takeover("after-stop", false), 15); }

TEST_F(Takeover, FollowsTheLeaseIfTheLeaderCrashes) { EXPECT_GT(takeover("after-crash", true), 10); }

}  // namespace
}  // namespace tpuslice::testing
