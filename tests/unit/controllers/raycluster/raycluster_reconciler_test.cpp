#include "controllers/raycluster/raycluster_reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Reconciling : public testing::Test {
 protected:
  runtime::Plan plan() const {
    Result<runtime::Plan> out = reconciler_.plan({{"default", "maxtext-tpu-cluster"}, a_time(), std::nullopt});
    EXPECT_TRUE(out.ok());
    return *std::move(out);
  }
  void add_cluster() { clusters_.put(decode_object(tutorial_cluster())); }

  runtime::ObjectStore clusters_{kRayClusters};
  runtime::PodStore pods_{kPods, runtime::owner_index<PodView>};
  runtime::ObjectStore services_{kServices, runtime::owner_index<ObjectView>};
  const RayClusterReconciler reconciler_{clusters_, pods_, services_};
};

TEST_F(Reconciling, PlansNothingForAClusterThatIsGone) { EXPECT_TRUE(plan().empty()); }

TEST_F(Reconciling, FindsItsPodsAndServicesInTheStores) {
  add_cluster();
  EXPECT_THAT(plan().stages, SizeIs(2));
  const RayClusterObserved running = all_running(Object(tutorial_cluster()));
  for (const auto& pod : running.pods) pods_.put(*pod);
  for (const auto& service : running.services) services_.put(*service);
  EXPECT_THAT(plan().stages, IsEmpty());
}

TEST_F(Reconciling, DoesNotTouchPodsOfAnotherOwner) {
  add_cluster();
  PodView other = a_worker(Object(tutorial_cluster()), "tpu-group", 0, 0);
  other.controller->uid = "somebody-else";
  pods_.put(other);
  for (const runtime::Stage& stage : plan().stages) {
    for (const runtime::Action& action : stage.actions) EXPECT_EQ(action.kind, runtime::ActionKind::kCreate);
  }
}

TEST_F(Reconciling, SeesAForeignServiceUnderOneOfItsNames) {
  add_cluster();
  ObjectView foreign = *all_running(Object(tutorial_cluster())).services[0];
  foreign.controller.reset();
  services_.put(foreign);
  EXPECT_THAT(plan().reason, HasSubstr("service default/maxtext-tpu-cluster-head-svc has no controller"));
}

}  // namespace
}  // namespace tpuslice::raycluster
