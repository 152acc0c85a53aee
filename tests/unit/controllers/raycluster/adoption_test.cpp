#include "controllers/raycluster/adoption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/raycluster_plan.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class Adoption : public testing::Test {
 protected:
  Adoption() {
    // The same cluster, created again.
    edit(seen_.cluster)["metadata"]["uid"] = "uid-of-second";
    seen_.services.clear();
    for (auto& pod : seen_.pods) {
      change(pod, [](PodView& view) {
        view.controller.reset();
        view.has_owner = false;
      });
    }
  }
  plan::Plan plan() const { return plan_raycluster(seen_, {}); }
  void adopt_all() {
    for (auto& pod : seen_.pods) {
      change(pod, [](PodView& view) {
        view.controller = ControllerRef{"ray.io/v1", "RayCluster", "maxtext-tpu-cluster", "uid-of-second"};
        view.has_owner = true;
      });
    }
  }

  RayClusterObserved seen_ = all_running(Object(tutorial_cluster()));
};

TEST_F(Adoption, ChecksTheClusterThenSetsTheOwnerOfEachPodAndCreatesNone) {
  const plan::Plan out = plan();
  ASSERT_THAT(stages_of(out),
              ElementsAre(ElementsAre("patch RayCluster maxtext-tpu-cluster status"),
                          AllOf(SizeIs(5), Each(StartsWith("patch Pod "))), Each(HasSubstr(" Service "))));
  EXPECT_EQ(action_of(out, "patch RayCluster maxtext-tpu-cluster status").preconditions,
            (plan::Preconditions{"uid-of-second", "1"}));
  for (const plan::Action& action : out.stages[1].actions) {
    EXPECT_EQ(action.body.make().value()["metadata"]["ownerReferences"][0]["uid"], "uid-of-second");
    EXPECT_FALSE(action.preconditions.uid.empty());
  }
  EXPECT_THAT(out, plan::HasEvent("AdoptedPod"));
}

TEST_F(Adoption, OfAServiceAloneChecksTheClusterAsWell) {
  adopt_all();
  Json service = all_running(Object(tutorial_cluster())).services[0]->object().json();
  service["metadata"].erase("ownerReferences");
  seen_.services.push_back(std::make_shared<const ObjectView>(decode_object(service)));
  const plan::Plan out = plan();
  EXPECT_THAT(stages_of(out),
              ElementsAre(ElementsAre("patch RayCluster maxtext-tpu-cluster status"), Each(HasSubstr(" Service "))));
  EXPECT_EQ(action_of(out, "patch RayCluster maxtext-tpu-cluster status").preconditions,
            (plan::Preconditions{"uid-of-second", "1"}));
}

TEST_F(Adoption, KeepsTheAdoptedPods) {
  adopt_all();
  EXPECT_THAT(writes_of(plan()), Each(HasSubstr(" Service ")));
}

TEST_F(Adoption, WaitsForATerminatingPodBeforeItsHostIsCreatedAgain) {
  seen_.pods.resize(2);
  for (auto& pod : seen_.pods) change(pod, [](PodView& view) { view.deletion = a_time(); });
  EXPECT_THAT(writes_of(plan()), Each(HasSubstr(" Service ")));
}

TEST_F(Adoption, IsNotDoneByAClusterThatIsBeingDeleted) {
  edit(seen_.cluster)["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_THAT(plan().stages, IsEmpty());
}

TEST_F(Adoption, IsOfPodsWithTheLabelsOfTheClusterAndWithoutOwner) {
  const auto cluster_of = [&](auto how) {
    PodView pod = *seen_.pods[1];
    how(pod);
    return cluster_of_orphan(pod);
  };
  EXPECT_EQ(cluster_of([](PodView&) {}), (ObjectKey{"default", "maxtext-tpu-cluster"}));
  EXPECT_EQ(cluster_of_orphan(*seen_.pods[0]), (ObjectKey{"default", "maxtext-tpu-cluster"}));
  EXPECT_FALSE(cluster_of([](PodView& pod) { pod.has_owner = true; }));
  for (const char* label : {"ray.io/cluster", "ray.io/node-type", "ray.io/group"}) {
    EXPECT_FALSE(cluster_of([&](PodView& pod) { pod.labels.erase(label); })) << label;
  }
  EXPECT_FALSE(cluster_of([](PodView& pod) { pod.labels["ray.io/node-type"] = "head"; }));
}

}  // namespace
}  // namespace tpuslice::raycluster
