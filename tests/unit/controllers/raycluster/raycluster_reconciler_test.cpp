#include "controllers/raycluster/raycluster_reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/plan_matchers.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Reconciling : public testing::Test {
 protected:
  plan::Plan plan() const {
    Result<plan::Plan> out = reconciler_.plan({{"default", "maxtext-tpu-cluster"}, a_time(), std::nullopt});
    EXPECT_TRUE(out.ok());
    return *std::move(out);
  }
  void add_cluster() { clusters_.put(decode_object(tutorial_cluster())); }

  runtime::ObjectStore clusters_{kRayClusters};
  runtime::PodStore pods_{kPods};
  runtime::ObjectStore services_{kServices};
  runtime::JobStore cleanup_jobs_{kJobs};
  const RayClusterReconciler reconciler_{{clusters_,
                                          pods_.add_index(runtime::owner_uid<PodView>),
                                          pods_.add_index(orphan_index),
                                          services_,
                                          services_.add_index(runtime::owner_uid<ObjectView>),
                                          {},
                                          &cleanup_jobs_}};
};

TEST_F(Reconciling, PlansNothingForAClusterThatDoesNotExist) { EXPECT_TRUE(plan().empty()); }

TEST_F(Reconciling, FindsItsPodsAndServicesInTheStores) {
  add_cluster();
  EXPECT_THAT(plan().stages, SizeIs(2));
  const RayClusterObserved running = all_running(Object(tutorial_cluster()));
  for (const auto& pod : running.pods) pods_.put(*pod);
  for (const auto& service : running.services) services_.put(*service);
  EXPECT_THAT(plan().stages, IsEmpty());
}

TEST_F(Reconciling, LeavesAClusterWithAMinimalObjectAsItIs) {
  add_cluster();
  const RayClusterObserved running = all_running(Object(tutorial_cluster()));
  for (const auto& pod : running.pods) pods_.put(*pod);
  for (const auto& service : running.services) services_.put(*service);
  PodView pod = *running.pods.back();
  pod.minimal = true;
  pod.annotations.clear();  // As of a pod of an old template.
  pod.containers.clear();
  pods_.put(pod);
  EXPECT_THAT(plan().stages, IsEmpty());
  EXPECT_FALSE(plan().status.has_value());
  pods_.put(*running.pods.back());
  ObjectView service = *running.services.front();
  service.text.clear();
  service.minimal = true;
  services_.put(service);
  EXPECT_THAT(plan().stages, IsEmpty());
  ObjectView cluster = *clusters_.get({"default", "maxtext-tpu-cluster"});
  cluster.text.clear();
  cluster.minimal = true;
  clusters_.put(cluster);
  EXPECT_TRUE(plan().empty()) << "it does not look like one without groups";
}

TEST_F(Reconciling, DoesNotTouchPodsOfAnotherOwner) {
  add_cluster();
  PodView other = a_worker(Object(tutorial_cluster()), "tpu-group", 0, 0);
  other.controller->uid = "another-owner";
  pods_.put(other);
  for (const plan::Stage& stage : plan().stages) {
    for (const plan::Action& action : stage.actions) EXPECT_EQ(action.kind, plan::ActionKind::kCreate);
  }
}

TEST_F(Reconciling, FindsAServiceOfAnotherOwnerWithOneOfItsNames) {
  add_cluster();
  ObjectView other = *all_running(Object(tutorial_cluster())).services[0];
  other.controller.reset();
  services_.put(other);
  EXPECT_THAT(plan().reason, HasSubstr("service default/maxtext-tpu-cluster-head-svc has no controller"));
}

TEST_F(Reconciling, FindsTheCleanupJobOfADeletedClusterOnceJobsAreWatched) {
  Json cluster = tutorial_cluster();
  cluster["spec"]["gcsFaultToleranceOptions"]["redisAddress"] = "redis:6379";
  cluster["metadata"]["finalizers"] = {"ray.io/gcs-ft-redis-cleanup-finalizer"};
  cluster["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  clusters_.put(decode_object(cluster));
  EXPECT_TRUE(plan().empty());
  cleanup_jobs_.replace({}, 1);
  const std::string creation = "create Job maxtext-tpu-cluster-redis-cleanup";
  ASSERT_THAT(writes_of(plan()), ElementsAre(creation));
  Json job = action_of(plan(), creation).body.make().value();
  job["metadata"]["uid"] = "uid-of-job";
  cleanup_jobs_.put(JobView::from_json(job).value());
  EXPECT_TRUE(plan().empty());
}

}  // namespace
}  // namespace tpuslice::raycluster
