#include "controllers/rayjob/rayjob_reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/metrics.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tests/support/fake_api.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/rayjob/world.h"

namespace tpuslice::rayjob {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RayJobIndexes, NameTheClusterOfTheAttempt) {
  Json job = a_rayjob();
  EXPECT_EQ(index_cluster(*ObjectView::from_json(job)), std::nullopt);
  job["status"]["rayClusterName"] = "train-x7k2p";
  EXPECT_EQ(index_cluster(*ObjectView::from_json(job)), "default/train-x7k2p");
  PodView pod;
  pod.key = {"default", "a"};
  EXPECT_EQ(index_cluster_of_pod(pod), std::nullopt);
  pod.labels = {{"ray.io/cluster", "train-x7k2p"}};
  EXPECT_EQ(index_cluster_of_pod(pod), "default/train-x7k2p");
}

class ReconcilingRayJobs : public ::testing::Test {
 protected:
  /// Puts the world into the stores.
  void observe(const World& world) {
    jobs_.put(*ObjectView::from_json(world.job()));
    const RayJobObserved seen = world.observed();
    if (seen.cluster != nullptr) clusters_.put(*seen.cluster);
    for (const auto& pod : seen.pods) pods_.put(*pod);
    if (seen.submitter != nullptr) submitters_.put(*seen.submitter);
    if (seen.service != nullptr) services_.put(*seen.service);
  }
  [[nodiscard]] plan::Plan plan() const { return reconciler_.plan({{"default", "train"}, clock_.wall(), {}}).value(); }

  FakeClock clock_;
  Metrics metrics_;
  testing::FakeApi api_;
  runtime::WorkloadClient dashboards_{{}, api_, clock_, metrics_};
  runtime::ObjectStore jobs_{kRayJobs};
  runtime::ObjectStore clusters_{raycluster::kRayClusters};
  runtime::PodStore pods_{kPods};
  runtime::JobStore submitters_{kJobs};
  runtime::PodStore submitter_pods_{kPods};
  runtime::ObjectStore services_{kServices};
  const RayJobReconciler reconciler_{{jobs_, clusters_, pods_.add_index(index_cluster_of_pod), submitters_,
                                      submitter_pods_.add_index(runtime::owner_uid<PodView>), services_, dashboards_}};
};

TEST_F(ReconcilingRayJobs, PlansNothingForADeletedOne) {
  EXPECT_TRUE(plan().empty());
  EXPECT_EQ(reconciler_.name(), "rayjob");
  EXPECT_EQ(reconciler_.resource(), kRayJobs);
}

TEST_F(ReconcilingRayJobs, LeavesAMinimalJobAsItIs) {
  World world(a_rayjob());
  world.settle();
  observe(world);
  ObjectView job = *jobs_.get({"default", "train"});
  job.text.clear();
  job.minimal = true;
  jobs_.put(job);
  EXPECT_TRUE(plan().empty());
  EXPECT_EQ(index_cluster(job), std::nullopt);
  EXPECT_EQ(index_created_cluster(job), std::nullopt);
}

TEST_F(ReconcilingRayJobs, ObservesAllThatThePlanDependsOn) {
  World world(a_rayjob());
  world.settle();
  world.start_cluster();
  world.settle();
  ASSERT_EQ(world.state(), "Running");
  observe(world);
  const plan::Plan out = plan();
  EXPECT_TRUE(out.empty()) << to_json(out).dump(1);
  ASSERT_EQ(out.requests.size(), 1U);
  EXPECT_EQ(out.requests[0].address, "10.0.0.1:8265");
  EXPECT_EQ(out.requests[0].target, "/api/jobs/" + world.job_id());
}

TEST(RayJobOfAPod, IsThatOfASubmitterWithAProblem) {
  World world(a_rayjob());
  world.settle();
  world.start_cluster();
  world.settle();
  const auto pod = [&](const char* name, const char* phase, const Json& state) {
    world.add_submitter_pod(name, phase, state);
    return world.observed().submitter_pods.back();
  };
  EXPECT_THAT(rayjob_of_submitter_pod(*pod("train-a", "Running", {{"running", Json::object()}})), IsEmpty());
  EXPECT_THAT(rayjob_of_submitter_pod(*pod("train-b", "Failed", {{"terminated", {{"exitCode", 128}}}})),
              ElementsAre(ObjectKey{"default", "train"}));
}

}  // namespace
}  // namespace tpuslice::rayjob
