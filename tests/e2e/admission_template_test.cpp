// Pods that the real Job controller creates from a mutated template, compared with pods that the webhook mutates.
#include <algorithm>

#include <gtest/gtest.h>

#include "api/types/patch.h"
#include "controllers/jobset/template_mutator.h"
#include "tests/e2e/admission_fixture.h"
#include "tests/support/jobset/template_jobs.h"

namespace tpuslice::testing {
namespace {

using jobset::TemplateJob;

constexpr ResourceType kBatchJobs{"batch", "v1", "Job", "jobs"};
constexpr const char* kOfJobSet = "jobset.sigs.k8s.io/jobset-name=js";

/// Of two hosts, with what users add.
Json job_of_two_hosts() {
  const Json env = Json::array({Json({{"name", "WHO"}, {"value", "worker $(TPU_WORKER_ID)"}})});
  Json job = TemplateJob{.shape = {.topology = "2x4", .chips = {4, 0}, .env = env}, .pods = 2}.json();
  Json& pod = job["spec"]["template"];
  pod["metadata"]["annotations"]["alpha.jobset.sigs.k8s.io/exclusive-topology"] = "example.com/rack";
  pod["metadata"]["annotations"]["tpuslice.dev/slices-together"] = "2";
  pod["spec"]["automountServiceAccountToken"] = false;
  pod["spec"]["schedulingGates"].push_back({{"name", "example.com/quota"}});
  for (Json& container : pod["spec"]["containers"]) container["image"] = "i";
  return job;
}

/// Without what differs between two objects of the same content. Tolerations are a set; the API server's plugins come
/// before webhooks, and add theirs.
Json content_of(Json pod) {
  pod.erase("status");
  Json& metadata = pod["metadata"];
  for (const char* own : {"name", "uid", "resourceVersion", "creationTimestamp", "managedFields"}) metadata.erase(own);
  for (const char* of_job : {"controller-uid", "batch.kubernetes.io/controller-uid"}) metadata["labels"].erase(of_job);
  for (Json& owner : metadata["ownerReferences"]) owner.erase("uid");
  Json& tolerations = pod["spec"]["tolerations"];
  std::sort(tolerations.begin(), tolerations.end());
  return jobset::as_found(std::move(pod));
}

class TemplateAdmission : public Admission {
 protected:
  TemplateAdmission() { mutation_.gate = true; }

  Json created(const ResourceType& type, const Json& object) {
    const auto result = plane_->client().create(type, Object(object));
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message());
    return result.ok() ? result->json() : Json();
  }

  /// The Job and its pods.
  void remove(const Json& job) {
    const ObjectKey key{"default", string_at(job, {"metadata", "name"})};
    const Status removed = plane_->client().remove(kBatchJobs, key, {.propagation = "Foreground"});
    ASSERT_TRUE(removed.ok()) << removed.error().message();
    ASSERT_TRUE(eventually([&] {
      const auto found = plane_->client().get(kBatchJobs, key);
      return !found.ok() && found.error().code() == ErrorCode::kNotFound;
    }));
  }

  /// Pods that the webhook has been asked about.
  double calls() {
    return metrics_
        .counter("controller_runtime_webhook_requests_total", "Total number of admission requests by HTTP status code.",
                 {{"webhook", "/mutate-v1-pod"}, {"code", "200"}})
        .value();
  }
};

TEST_F(TemplateAdmission, IsNotNeededForPodsOfAMutatedTemplate) {
  Json job = job_of_two_hosts();
  created(kBatchJobs, job);
  const auto admitted = pods_of(kOfJobSet, 2);
  ASSERT_NO_FATAL_FAILURE(remove(job));

  const double before = calls();
  EXPECT_GE(before, 2);
  ASSERT_TRUE(jobset::mutate_job_template(job, mutation_).value_or(false));
  created(kBatchJobs, job);
  const auto templated = pods_of(kOfJobSet, 2);
  EXPECT_EQ(calls(), before) << "the webhook was called";

  for (int index = 0; index < 2; ++index) {
    const std::string hostname = fmt::format("js-w-1-{}", index);
    ASSERT_TRUE(admitted.contains(hostname) && templated.contains(hostname)) << hostname;
    const Json& pod = templated.at(hostname);
    EXPECT_EQ(json_diff(content_of(admitted.at(hostname)), content_of(pod)), Json::array());
    EXPECT_EQ(string_at(pod, {"metadata", "annotations", "tpuslice.dev/mutated-by"}), "job-template");
    EXPECT_EQ(string_at(pod, {"metadata", "labels", jobset::kIndexKey}), std::to_string(index));
    EXPECT_EQ(tpu::testing::env_value(pod, "TPU_WORKER_ID"),
              fmt::format("metadata.annotations['{}']", jobset::kIndexKey));
    EXPECT_EQ(pod["spec"]["schedulingGates"].size(), 2U);
    Json again = pod;
    again["metadata"]["annotations"]["tpuslice.dev/slice-host"] = std::to_string(index);
    if (index == 0) again["metadata"]["labels"]["tpuslice.dev/host"] = "0";
    EXPECT_EQ(rules::mutate_pod(pod, mutation_).value_or(Json()), again);
  }
}

TEST_F(TemplateAdmission, IsCalledForAPodWithAForgedMutatedByAnnotation) {
  Json job = job_of_two_hosts();
  ASSERT_TRUE(jobset::mutate_job_template(job, mutation_).value_or(false));
  Json pod = jobset::pod_of(job, 1);
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  pod["metadata"].erase("ownerReferences");
  const double before = calls();
  EXPECT_EQ(string_at(created(kPods, pod), {"metadata", "annotations", "tpuslice.dev/slice-host"}), "1");
  EXPECT_EQ(calls(), before + 1);
}

}  // namespace
}  // namespace tpuslice::testing
