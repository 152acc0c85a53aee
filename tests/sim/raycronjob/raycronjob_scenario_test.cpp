// RayCronJobs in a simulated cluster, in simulated time: runs, suspension, missed runs, RayJobs that delete themselves,
// and an operator that is killed at each of its writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/base/file.h"
#include "api/types/conditions.h"
#include "api/types/patch.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-sim/ray/dashboards.h"
#include "controllers/raycronjob/raycronjob_kind.h"
#include "controllers/raycronjob/rules/raycronjob_labels.h"
#include "controllers/rayjob/rayjob_kind.h"
#include "tests/support/operator_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

const ObjectKey kNightly{"default", "nightly"};
constexpr const char* kCronJobs = "raycronjobs.ray.io";
constexpr const char* kRayJobs = "rayjobs.ray.io";

// A RayJob has failed after two minutes, as no Ray job is submitted, and deletes itself after three more.
constexpr std::string_view kManifest = R"(
apiVersion: ray.io/v1
kind: RayCronJob
metadata: {name: nightly, namespace: default}
spec:
  schedule: "*/10 * * * *"
  jobTemplate:
    entrypoint: python train.py
    submissionMode: InteractiveMode
    activeDeadlineSeconds: 120
    deletionStrategy:
      deletionRules:
        - {policy: DeleteSelf, condition: {jobDeploymentStatus: Failed, ttlSeconds: 180}}
    rayClusterSpec:
      rayVersion: 2.52.0
      headGroupSpec:
        rayStartParams: {}
        template:
          spec:
            containers:
              - {name: ray-head, image: rayproject/ray:2.52.0, resources: {limits: {cpu: "1", memory: 2Gi}}}
)";

/// It is midnight, at the beginning of 2026.
class CronWorld final : public OperatorWorld {
 public:
  CronWorld()
      : OperatorWorld({}, "deploy/crds/ray.io_raycronjobs.yaml"),
        dashboards(clock),
        feed_(cluster.storage(), {kRayJobs}) {
    for (const char* file : {"deploy/crds/ray.io_rayjobs.yaml", "deploy/crds/ray.io_rayclusters.yaml"}) {
      require(cluster.apply_yaml(read_file(file).value()));
    }
    replacement = operator_options();
  }

  [[nodiscard]] OperatorOptions operator_options() {
    OperatorOptions out;
    out.add_controllers = [this](runtime::Manager& manager) {
      rayjob::add_rayjob(manager, sim::in_process(dashboards));
      raycronjob::add_raycronjob(manager);
    };
    return out;
  }
  /// `spec`: a merge patch of the spec.
  void apply(const Json& spec = Json::object()) {
    Json manifest = parse_yaml(kManifest).value();
    manifest["spec"] = apply_merge_patch(manifest["spec"], spec);
    TPUSLICE_CHECK(cluster.apply(std::move(manifest)).ok());
  }

  [[nodiscard]] std::vector<std::string> jobs() {
    std::vector<std::string> out;
    for (const sim::JsonPtr& job : cluster.storage().list(kRayJobs, kNightly.namespace_name)) {
      out.push_back(string_at(*job, {"metadata", "annotations", raycronjob::kScheduledTimestamp}));
    }
    std::ranges::sort(out);
    return out;
  }
  [[nodiscard]] Json status() const {
    const sim::JsonPtr found = cluster.get(kCronJobs, kNightly);
    const Json* status = found == nullptr ? nullptr : find_set(*found, {"status"});
    return status == nullptr ? Json::object() : *status;
  }
  [[nodiscard]] std::string last_run() const { return string_at(status(), {"lastScheduleTime"}); }
  [[nodiscard]] std::string scheduled() const {
    const Json now = status();
    const Json* condition = find_condition(array_at(now, {"conditions"}), raycronjob::kScheduled);
    return condition == nullptr ? "" : string_at(*condition, {"reason"}) + ": " + string_at(*condition, {"message"});
  }

  sim::RayDashboards dashboards;
  std::vector<std::string> created;  ///< Scheduled times of all RayJobs, in the order of their creation.

 protected:
  /// No scheduled time has two RayJobs.
  std::vector<std::string> check() override {
    std::vector<std::string> out;
    for (const sim::Change& change : feed_.take().changes) {
      const std::string uid = string_at(*change.object, {"metadata", "uid"});
      if (!uids_.insert(uid).second) continue;
      created.push_back(string_at(*change.object, {"metadata", "annotations", raycronjob::kScheduledTimestamp}));
      if (std::ranges::count(created, created.back()) > 1) out.push_back("two RayJobs for " + created.back());
    }
    return out;
  }

 private:
  sim::ChangeFeed feed_;
  std::set<std::string> uids_;
};

TEST(RayCronJobScenario, StartsARunAtEachScheduledTime) {
  CronWorld world;
  world.start_operator(world.replacement);
  world.apply();
  world.run_for(9min + 59s);
  EXPECT_THAT(world.created, IsEmpty());
  EXPECT_EQ(world.scheduled(), "Scheduled: the next run is at 2026-01-01T00:10:00Z");
  world.run_for(11s);
  EXPECT_THAT(world.created, ElementsAre("2026-01-01T00:10:00Z"));
  EXPECT_EQ(world.last_run(), "2026-01-01T00:10:00Z");
  ASSERT_TRUE(world.cluster.get(kRayJobs, {"default", "nightly-29453770"}));
  world.run_for(10min);
  EXPECT_THAT(world.created, ElementsAre("2026-01-01T00:10:00Z", "2026-01-01T00:20:00Z"));
  EXPECT_EQ(world.scheduled(), "Scheduled: the next run is at 2026-01-01T00:30:00Z");
}

TEST(RayCronJobScenario, RunsHaveClustersAndTheirHistoryIsDeleted) {
  CronWorld world;
  world.start_operator(world.replacement);
  world.apply();
  ASSERT_TRUE(world.run_until([&] { return !world.cluster.storage().list("pods", "default").empty(); }, 11min));
  world.run_for(1h);
  EXPECT_THAT(world.created, SizeIs(7));
  EXPECT_THAT(world.jobs(), SizeIs(::testing::Le(1U))) << "a RayJob lives for five minutes";
  EXPECT_THAT(world.violations, IsEmpty());
}

TEST(RayCronJobScenario, SuspendsAndStartsTheLastMissedRunWhenItResumes) {
  CronWorld world;
  world.start_operator(world.replacement);
  world.apply();
  world.run_for(11min);
  world.apply({{"suspend", true}});
  world.run_for(1h);
  EXPECT_THAT(world.created, ElementsAre("2026-01-01T00:10:00Z"));
  EXPECT_EQ(world.scheduled(), "Suspended: RayCronJob suspended, no new RayJobs will be created");
  world.apply({{"suspend", false}});
  world.run_for(1min);
  EXPECT_THAT(world.created, ElementsAre("2026-01-01T00:10:00Z", "2026-01-01T01:10:00Z"));
}

TEST(RayCronJobScenario, ANewOperatorStartsOnlyTheLastMissedRun) {
  CronWorld world;
  world.start_operator(world.replacement);
  world.apply();
  world.run_for(11min);
  world.kill_operators();
  world.run_for(6h);
  world.start_operator(world.replacement);
  world.run_for(1min);
  EXPECT_THAT(world.created, ElementsAre("2026-01-01T00:10:00Z", "2026-01-01T06:10:00Z"));
  world.run_for(9min);
  EXPECT_THAT(world.created, SizeIs(3));
}

TEST(RayCronJobScenario, FollowsATimeZoneAndAnEditedSchedule) {
  CronWorld world;
  world.start_operator(world.replacement);
  world.apply({{"schedule", "0 6 * * *"}, {"timeZone", "Asia/Kolkata"}});
  world.run_for(1min);
  EXPECT_EQ(world.scheduled(), "Scheduled: the next run is at 2026-01-01T00:30:00Z");
  world.run_for(30min);
  EXPECT_THAT(world.created, ElementsAre("2026-01-01T00:30:00Z"));
  world.apply({{"schedule", "@hourly"}});
  world.run_for(1h);
  EXPECT_THAT(world.created, ElementsAre("2026-01-01T00:30:00Z", "2026-01-01T01:00:00Z"));
}

TEST(RayCronJobScenario, ItsRayJobsAreDeletedWithIt) {
  CronWorld world;
  world.start_operator(world.replacement);
  world.apply();
  world.run_for(11min);
  ASSERT_THAT(world.jobs(), SizeIs(1));
  ASSERT_TRUE(world.cluster.remove(kCronJobs, kNightly).ok());
  EXPECT_TRUE(world.run_until([&] { return world.jobs().empty(); }));
}

TEST(RayCronJobScenario, NothingIsWrittenBetweenTheRuns) {
  CronWorld world;
  OperatorHarness& harness = world.start_operator(world.replacement);
  world.apply({{"schedule", "0 0 1 * *"}});
  // Event series are closed a few minutes after their last event.
  world.run_for(10min);
  const std::int64_t writes = harness.faults().writes();
  world.run_for(48h);
  EXPECT_EQ(harness.faults().writes(), writes);
}

// The RayJobs are left suspended, so that all writes are about the RayCronJob.
TEST(RayCronJobScenario, AnOperatorThatIsKilledAtAnyWriteStartsEachRunOnce) {
  std::int64_t writes = 0;
  for (const bool before_server : {false, true}) {
    for (std::int64_t die_at = 0; die_at <= writes; ++die_at) {
      SCOPED_TRACE(fmt::format("killed at write {} of {}", die_at, writes));
      CronWorld world;
      OperatorOptions faulty = world.operator_options();
      faulty.faults.die_at_write = die_at;
      faulty.faults.die_before_server = before_server;
      OperatorHarness& harness = world.start_operator(faulty);
      world.apply(
          {{"jobTemplate", {{"suspend", true}, {"deletionStrategy", nullptr}, {"shutdownAfterJobFinishes", true}}}});
      world.run_for(31min);
      if (die_at == 0) writes = harness.faults().writes();
      ASSERT_THAT(world.created, ElementsAre("2026-01-01T00:10:00Z", "2026-01-01T00:20:00Z", "2026-01-01T00:30:00Z"));
      ASSERT_EQ(world.last_run(), "2026-01-01T00:30:00Z");
      ASSERT_THAT(world.violations, IsEmpty());
    }
  }
  EXPECT_GE(writes, 7);
}

}  // namespace
}  // namespace tpuslice::testing
