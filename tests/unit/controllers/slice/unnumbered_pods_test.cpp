#include "controllers/slice/unnumbered_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/slice/unnumbered_pod_reconciler.h"
#include "tests/support/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A pod of 4 chips of Job train, which selects nodes of v6e 4x4, as admission leaves it without identity.
PodPtr unnumbered_pod_of_job(const PodChange& change = [](PodView&) {}) {
  return with(a_slice("train").selects(tpu::kAcceleratorLabel, kV6e).selects(tpu::kTopologyLabel, "4x4").pod(0),
              [&](PodView& pod) {
                pod.labels.clear();
                pod.labels[std::string(tpu::kSlice)] = tpu::kNoSlice;
                pod.annotations.clear();
                pod.controller = ControllerRef{"batch/v1", "Job", "train", "uid-of-job"};
                pod.created = start_of_time();
                change(pod);
              });
}

TEST(UnnumberedPod, OfAJobWarnsAboutTheJob) {
  const plan::Plan plan = plan_unnumbered_pod(*unnumbered_pod_of_job(), after(59s));
  EXPECT_THAT(plan.stages, IsEmpty());
  ASSERT_THAT(plan.events, SizeIs(1));
  const plan::EventIntent& event = plan.events[0];
  EXPECT_EQ(event.type, plan::EventType::kWarning);
  EXPECT_EQ(event.reason, "SliceIdentityMissing");
  ASSERT_TRUE(event.regarding.has_value());
  EXPECT_EQ(event.regarding->kind, "Job");
  EXPECT_EQ(event.regarding->key, (ObjectKey{"default", "train"}));
  EXPECT_EQ(event.message,
            "Each pod is one of 4 hosts of a slice, tpu-v6e-slice 4x4, but gets no TPU_WORKER_ID, so the hosts do not "
            "find each other: create the Job again with completionMode Indexed and the subdomain of a headless service "
            "in its pod template, in a JobSet with spec.network.enableDNSHostnames");
}

TEST(UnnumberedPod, WithIndexLacksASubdomain) {
  const PodPtr pod = unnumbered_pod_of_job(
      [](PodView& view) { view.annotations[std::string(tpu::kCompletionIndex)] = std::string("0"); });
  const plan::Plan plan = plan_unnumbered_pod(*pod, after(1s));
  ASSERT_THAT(plan.events, SizeIs(1));
  EXPECT_THAT(plan.events[0].message, HasSubstr("create the Job again with the subdomain of a headless service in its "
                                                "pod template"));
}

TEST(UnnumberedPod, WarnsOnlyWhileItIsNew) {
  EXPECT_TRUE(plan_unnumbered_pod(*unnumbered_pod_of_job(), after(60s)).empty());
}

// Otherwise each change of its status would send a further event.
TEST(UnnumberedPod, IsPlannedOnlyBeforeItHasANode) {
  EXPECT_THAT(unnumbered_pod(*unnumbered_pod_of_job([](PodView& pod) { pod.node_name = "node-a"; })), IsEmpty());
}

TEST(UnnumberedPod, IsOneOfSeveralHostsOfAJob) {
  EXPECT_THAT(unnumbered_pod(*unnumbered_pod_of_job()), ElementsAre(ObjectKey{"default", "train-0"}));
  EXPECT_FALSE(is_unnumbered(*a_slice("train").pod(0))) << "a host of a slice";
  const std::vector<PodChange> others = {
      [](PodView& pod) { pod.controller->kind = "StatefulSet"; },
      [](PodView& pod) { pod.controller->api_version = "batch.volcano.sh/v1alpha1"; },
      [](PodView& pod) { pod.controller.reset(); },
      [](PodView& pod) { pod.phase = PodPhase::kSucceeded; },
      // 4 of 16 chips.
      [](PodView& pod) { pod.annotations[std::string(tpu::kSliceTopologyAnnotation)] = std::string("2x2"); },
  };
  for (const PodChange& change : others) EXPECT_FALSE(is_unnumbered(*unnumbered_pod_of_job(change)));
  const PodPtr single =
      with(a_slice("train").selects(tpu::kAcceleratorLabel, kV6e).selects(tpu::kTopologyLabel, "2x2").pod(0),
           [](PodView& pod) {
             pod.labels[std::string(tpu::kSlice)] = tpu::kNoSlice;
             pod.controller = ControllerRef{"batch/v1", "Job", "train", "uid-of-job"};
           });
  EXPECT_FALSE(is_unnumbered(*single)) << "a slice of one host";
}

}  // namespace
}  // namespace tpuslice::slice
