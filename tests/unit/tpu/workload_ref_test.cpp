#include "tpu/workload_ref.h"

#include <gtest/gtest.h>

#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

const WorkloadRef kController{"batch/v1", "Job", "train-slice-0", "u-8"};

PodView pod_with(const std::string& workload, const std::string& uid = "") {
  PodView pod;
  pod.controller = ControllerRef{kController.api_version, kController.kind, kController.name, kController.uid};
  if (!workload.empty()) pod.annotations[std::string(kWorkload)] = workload;
  if (!uid.empty()) pod.annotations[std::string(kWorkloadUid)] = uid;
  return pod;
}

TEST(WorkloadRef, IsPrintedAsKubectlTakesItAndReadBack) {
  const WorkloadRef train{"jobset.x-k8s.io/v1alpha2", "JobSet", "train", "u-9"};
  EXPECT_EQ(to_string(train), "JobSet.v1alpha2.jobset.x-k8s.io/train");
  EXPECT_EQ(workload_of(pod_with(to_string(train), "u-9")), train);
}

TEST(WorkloadRef, IsTheControllerWithoutTheAnnotation) {
  EXPECT_EQ(workload_of(pod_with("")), kController);
  EXPECT_EQ(workload_of(PodView()), std::nullopt);
}

TEST(WorkloadRef, IgnoresAnnotationsThatAdmissionWouldNotWrite) {
  const std::string long_name(254, 'a');
  for (const std::string& forged :
       {std::string("train"), std::string("JobSet/train"), std::string("JobSet.v1/train"), std::string("A.v1.b/"),
        std::string(".v1.b/train"), std::string("A.v1./train"), std::string("A.v1.b/../x"), std::string("A.v1.b/x\ny"),
        std::string("A.v1.b/x (y)"), std::string("A b.v1.c/x"), "A.v1.b/" + long_name, long_name + ".v1.b/x"}) {
    EXPECT_EQ(workload_of(pod_with(forged, "u-9")), kController) << forged;
  }
}

TEST(WorkloadRef, IgnoresAUidThatIsNotOne) {
  for (const std::string& forged : {std::string(64, 'a'), std::string("a\nb"), std::string("-")}) {
    EXPECT_EQ(workload_of(pod_with("JobSet.v1alpha2.jobset.x-k8s.io/train", forged))->uid, "") << forged;
  }
}

TEST(UniqueName, IsGuaranteedByStatefulSetsOnly) {
  PodView pod;
  EXPECT_FALSE(has_unique_name(pod));
  pod.controller = ControllerRef{"batch/v1", "Job", "train", "u"};
  EXPECT_FALSE(has_unique_name(pod));
  pod.controller = ControllerRef{"apps/v1", "StatefulSet", "train", "u"};
  EXPECT_TRUE(has_unique_name(pod));
}

}  // namespace
}  // namespace tpuslice::tpu
