#include "tpu/rules/workload_kinds.h"
#include "tests/support/admission.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/pods.h"
#include "tpu/labels.h"

namespace tpuslice::rules {
namespace {

using ::testing::HasSubstr;
using tpu::testing::JobPod;
using tpu::testing::LwsPod;
using tpu::testing::RayPod;
using tpu::testing::StatefulSetPod;

const JobPod kJobSetPod{.job_set = "train", .replicated_job = "slice", .job_index = 1};

std::string kind_name(const Json& pod) {
  const WorkloadKind* kind = kind_of_pod(pod, admission_kinds());
  return kind == nullptr ? "" : std::string(kind->kind);
}

/// Value of an annotation of the pod as admission returns it.
std::string annotation(const Json& pod, std::string_view name) {
  return string_at(*mutate_pod(pod, with_kinds()), {"metadata", "annotations", name});
}

TEST(WorkloadKinds, HaveDistinctNamesPathsAndLabels) {
  std::set<std::string_view> seen;
  for (const WorkloadKind* kind : admission_kinds()) {
    EXPECT_TRUE(seen.insert(kind->kind).second) << kind->kind;
    EXPECT_TRUE(kind->path.empty() || seen.insert(kind->path).second) << kind->path;
    EXPECT_TRUE(kind->pod_label.empty() || seen.insert(kind->pod_label).second) << kind->pod_label;
    EXPECT_TRUE(kind->identify != nullptr || kind->pod_label.empty()) << kind->kind;
    EXPECT_EQ(kind->validate == nullptr, kind->path.empty()) << kind->kind;
    EXPECT_EQ(kind->warn == nullptr, kind->path.empty()) << kind->kind;
  }
}

TEST(KindOfPod, IsFoundByLabelOrController) {
  EXPECT_EQ(kind_name(RayPod{}.json()), "RayCluster");
  EXPECT_EQ(kind_name(kJobSetPod.json()), "JobSet");
  EXPECT_EQ(kind_name(JobPod{}.json()), "Job");
  EXPECT_EQ(kind_name(StatefulSetPod{}.json()), "StatefulSet");
  EXPECT_EQ(kind_name(LwsPod{}.json()), "LeaderWorkerSet") << "although a StatefulSet controls it";
  EXPECT_EQ(kind_name(tpu::testing::pod_of({}, "notebook")), "");
}

TEST(KindOfPod, IsNotAKindWithoutPodsOfItsOwn) {
  for (const char* kind : {"RayJob", "RayCronJob", "RayService"}) {
    Json pod = tpu::testing::pod_of({}, "p");
    pod["metadata"]["ownerReferences"] =
        Json::array({Json{{"apiVersion", "ray.io/v1"}, {"kind", kind}, {"name", "r"}, {"controller", true}}});
    EXPECT_EQ(kind_name(pod), "");
    EXPECT_FALSE(identity_of_pod(pod)->has_value());
  }
}

TEST(IdentifyPod, RefusesAMalformedQuantityInPodsOfNoKind) {
  Json pod = tpu::testing::pod_of({}, "notebook");
  EXPECT_FALSE(identity_of_pod(pod)->has_value());
  pod["spec"]["containers"][0]["resources"]["limits"]["google.com/tpu"] = "four";
  EXPECT_THAT(identity_of_pod(pod).error().message(), HasSubstr("must be a whole number of chips"));
}

TEST(WorkloadAnnotation, NamesAWorkloadThatIsNotTheController) {
  EXPECT_EQ(annotation(kJobSetPod.json(), tpu::kWorkload), "JobSet.v1alpha2.jobset.x-k8s.io/train");
  EXPECT_EQ(annotation(kJobSetPod.json(), tpu::kWorkloadUid), "uid-of-train");
  EXPECT_EQ(annotation(LwsPod{}.json(), tpu::kWorkload), "LeaderWorkerSet.v1.leaderworkerset.x-k8s.io/lws");
  EXPECT_EQ(annotation(LwsPod{.worker = 1}.json(), tpu::kWorkloadUid), "");
}

// Pods of LeaderWorkerSets have no label with it.
TEST(WorkloadAnnotation, KeepsTheUidThatTheTemplateOfALeaderWorkerSetHas) {
  Json pod = LwsPod{.worker = 1}.json();
  pod["metadata"]["annotations"]["tpuslice.dev/workload-uid"] = "uid-of-lws";
  EXPECT_EQ(annotation(pod, tpu::kWorkloadUid), "uid-of-lws");
}

TEST(WorkloadAnnotation, IsAbsentIfTheWorkloadIsTheController) {
  EXPECT_EQ(annotation(JobPod{}.json(), tpu::kWorkload), "");
  EXPECT_EQ(annotation(StatefulSetPod{}.json(), tpu::kWorkload), "");
  Json ray = RayPod{}.json();
  ray["metadata"]["ownerReferences"] =
      Json::array({Json{{"apiVersion", "ray.io/v1"}, {"kind", "RayCluster"}, {"name", "rc"}, {"controller", true}}});
  EXPECT_EQ(annotation(ray, tpu::kWorkload), "");
}

TEST(WorkloadAnnotation, OfAUserIsRejectedOrRemoved) {
  Json pod = kJobSetPod.json();
  pod["metadata"]["annotations"]["tpuslice.dev/workload"] = "JobSet.v1alpha2.jobset.x-k8s.io/other";
  EXPECT_THAT(mutate_pod(pod, with_kinds()).error().message(),
              HasSubstr("metadata.annotations[tpuslice.dev/workload]: Invalid value: "
                        "\"JobSet.v1alpha2.jobset.x-k8s.io/other\": must be unset or"));
  pod = JobPod{}.json();
  const Json expected = *mutate_pod(pod, with_kinds());
  pod["metadata"]["annotations"]["tpuslice.dev/workload"] = "JobSet.v1alpha2.jobset.x-k8s.io/other";
  pod["metadata"]["annotations"]["tpuslice.dev/workload-uid"] = "u";
  EXPECT_EQ(*mutate_pod(pod, with_kinds()), expected);
}

}  // namespace
}  // namespace tpuslice::rules
