// How long workloads wait for the other replica when the leader stops or crashes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"
#include "tests/e2e/uninstall/workloads.h"
#include "tests/e2e/upgrade/replicas.h"
#include "tests/support/eventually.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

const ResourceType kJobSets{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};

class Takeover : public ::testing::Test {
 protected:
  void SetUp() override {
    auto plane = ControlPlane::start({.scheduler = false, .kwok = false});
    if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
    ASSERT_TRUE(plane.ok()) << plane.error().message();
    plane_ = *std::move(plane);
    replicas_ = std::make_unique<Replicas>(*plane_);
    ASSERT_TRUE(replicas_->install(this_release()).ok());
    const Status started = replicas_->roll_out(this_release());
    ASSERT_TRUE(started.ok()) << started.error().message();
    ASSERT_TRUE(eventually([&] { return replicas_->leader() != nullptr; }));
  }
  void TearDown() override {
    replicas_.reset();
    if (plane_ && HasFailure()) plane_->keep_dir();
  }

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
    Json jobset = parse_yaml(jobset_manifest(name, false)).value();
    jobset["metadata"]["namespace"] = "default";
    EXPECT_TRUE(plane_->client().create(kJobSets, Object(jobset)).ok());
    EXPECT_TRUE(eventually([&] { return plane_->client().get(kJobs, {"default", name + "-slice-0"}).ok(); }, 60s));
    const double created = seconds();
    end.join();
    fmt::print("{}: the other replica leads after {:.1f} s, and has created a Job after {:.1f} s\n",
               crash ? "crash" : "stop", leads, created);
    return created;
  }

  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<Replicas> replicas_;
};

TEST_F(Takeover, DoesNotWaitForTheLeaseIfTheLeaderStops) { EXPECT_LT(takeover("after-stop", false), 15); }

TEST_F(Takeover, FollowsTheLeaseIfTheLeaderCrashes) { EXPECT_GT(takeover("after-crash", true), 10); }

}  // namespace
}  // namespace tpuslice::testing
