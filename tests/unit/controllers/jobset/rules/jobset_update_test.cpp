#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tpu/rules/jobsets.h"

namespace tpuslice::rules {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::jobset_message;
using testing::jobset_paths;
using testing::JobSetCase;
using testing::tpu_jobset;
using testing::with;
using testing::without;

const std::string kDriverJob = "/spec/replicatedJobs/0";
const std::string kSliceJob = "/spec/replicatedJobs/1";
const std::string kSlicePod = kSliceJob + "/template/spec/template";
constexpr const char* kSlicePodPath = "spec.replicatedJobs[1].template.spec.template";

/// With a startup policy, and a claim that the driver mounts.
Json stored_jobset() {
  Json jobset = tpu_jobset();
  jobset["spec"]["startupPolicy"]["startupPolicyOrder"] = "AnyOrder";
  jobset["spec"]["volumeClaimPolicies"] = Json::parse(
      R"([{"templates": [{"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Ti"}}}}]}])");
  jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] =
      Json::parse(R"([{"name": "data", "mountPath": "/data"}])");
  return jobset;
}

class JobSetImmutableField : public ::testing::TestWithParam<JobSetCase> {};

TEST_P(JobSetImmutableField, IsReportedIfItChanges) {
  const JobSetCase& c = GetParam();
  const Json old = stored_jobset();
  const Json jobset = with(old, c.pointer, c.value);
  EXPECT_THAT(jobset_paths(jobset, &old), ElementsAre(c.path));
  EXPECT_THAT(jobset_message(jobset, &old), AllOf(HasSubstr("field is immutable"), HasSubstr(c.message)));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, JobSetImmutableField,
    ::testing::Values(
        JobSetCase{"Replicas", kSliceJob + "/replicas", 3, "spec.replicatedJobs[1].replicas", "Invalid value: 3"},
        JobSetCase{"Group", kSliceJob + "/groupName", "other", "spec.replicatedJobs[1].groupName", "was \"tpu\""},
        JobSetCase{"Dependency", kSliceJob + "/dependsOn/0/status", "Complete",
                   "spec.replicatedJobs[1].dependsOn[0].status", "was \"Ready\""},
        JobSetCase{"Backoff", kSliceJob + "/template/spec/backoffLimit", 1,
                   "spec.replicatedJobs[1].template.spec.backoffLimit", "was 0"},
        JobSetCase{"CompletionMode", kDriverJob + "/template/spec/completionMode", "NonIndexed",
                   "spec.replicatedJobs[0].template.spec.completionMode", "was \"Indexed\""},
        JobSetCase{"JobAnnotation", kSliceJob + "/template/metadata/annotations/a", "b",
                   "spec.replicatedJobs[1].template.metadata.annotations[a]", "was absent"},
        JobSetCase{"Image", kSlicePod + "/spec/containers/0/image", "train:2",
                   "spec.replicatedJobs[1].template.spec.template.spec.containers[0].image", "was \"train:1\""},
        JobSetCase{"SecondContainer", kSlicePod + "/spec/containers/1", Json({{"name", "sidecar"}}),
                   "spec.replicatedJobs[1].template.spec.template.spec.containers", "was [{"},
        JobSetCase{"Memory", kSlicePod + "/spec/containers/0/resources/limits/memory", "2Gi",
                   "spec.replicatedJobs[1].template.spec.template.spec.containers[0].resources.limits[memory]",
                   "was \"1536Mi\""},
        JobSetCase{"RestartPolicy", kSlicePod + "/spec/restartPolicy", "OnFailure",
                   "spec.replicatedJobs[1].template.spec.template.spec.restartPolicy", "was \"Never\""},
        JobSetCase{"DnsHostnames", "/spec/network/enableDNSHostnames", false, "spec.network.enableDNSHostnames",
                   "was true"},
        JobSetCase{"Subdomain", "/spec/network/subdomain", "other", "spec.network.subdomain", "was \"train-net\""},
        JobSetCase{"NotReadyAddresses", "/spec/network/publishNotReadyAddresses", false,
                   "spec.network.publishNotReadyAddresses", "was true"},
        JobSetCase{"SuccessOperator", "/spec/successPolicy/operator", "Any", "spec.successPolicy.operator",
                   "was \"All\""},
        JobSetCase{"MaxRestarts", "/spec/failurePolicy/maxRestarts", 4, "spec.failurePolicy.maxRestarts", "was 3"},
        JobSetCase{"RestartStrategy", "/spec/failurePolicy/restartStrategy", "BlockingRecreate",
                   "spec.failurePolicy.restartStrategy", "was \"Recreate\""},
        JobSetCase{"Rules", "/spec/failurePolicy/rules", nullptr, "spec.failurePolicy.rules", "was [{"},
        JobSetCase{"Claim", "/spec/volumeClaimPolicies/0/templates/0/spec/resources/requests/storage", "2Ti",
                   "spec.volumeClaimPolicies[0].templates[0].spec.resources.requests[storage]", "was \"1Ti\""},
        JobSetCase{"Retention", "/spec/volumeClaimPolicies/0/retentionPolicy/whenDeleted", "Retain",
                   "spec.volumeClaimPolicies[0].retentionPolicy.whenDeleted", "was \"Delete\""},
        JobSetCase{"Manager", "/spec/managedBy", "acme.io/foo", "spec.managedBy", "was absent"},
        // Mutable while the JobSet is suspended.
        JobSetCase{"PodLabel", kSlicePod + "/metadata/labels/app", "serve",
                   "spec.replicatedJobs[1].template.spec.template.metadata.labels[app]",
                   "while the JobSet is not suspended, was \"train\""},
        JobSetCase{"PodAnnotation", kSlicePod + "/metadata/annotations/a", "b",
                   "spec.replicatedJobs[1].template.spec.template.metadata.annotations[a]", "is not suspended"},
        JobSetCase{"NodeSelector", kSlicePod + "/spec/nodeSelector/pool", "p",
                   "spec.replicatedJobs[1].template.spec.template.spec.nodeSelector[pool]", "is not suspended"},
        JobSetCase{"Toleration", kSlicePod + "/spec/tolerations/0/operator", "Exists",
                   "spec.replicatedJobs[1].template.spec.template.spec.tolerations", "is not suspended"},
        JobSetCase{"SchedulingGate", kSlicePod + "/spec/schedulingGates/0/name", "a.b/c",
                   "spec.replicatedJobs[1].template.spec.template.spec.schedulingGates", "is not suspended"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(JobSetUpdate, AcceptsChangesOfMutableFields) {
  const Json old = stored_jobset();
  EXPECT_THAT(jobset_message(old, &old), IsEmpty());
  EXPECT_THAT(jobset_message(with(old, "/spec/suspend", true), &old), IsEmpty());
  EXPECT_THAT(jobset_message(with(old, "/spec/ttlSecondsAfterFinished", 60), &old), IsEmpty());
  EXPECT_THAT(jobset_message(with(old, "/spec/activeDeadlineSeconds", 60), &old), IsEmpty());
  EXPECT_THAT(jobset_message(with(old, "/spec/coordinator/jobIndex", 1), &old), IsEmpty());
  EXPECT_THAT(jobset_message(with(old, "/metadata/labels/a", "b"), &old), IsEmpty());
}

TEST(JobSetUpdate, ReportsEveryChange) {
  const Json old = stored_jobset();
  Json jobset = with(old, kSlicePod + "/spec/containers/0/image", "train:2");
  jobset = with(jobset, kDriverJob + "/replicas", 2);
  jobset = with(jobset, "/spec/successPolicy/operator", "Any");
  EXPECT_THAT(jobset_paths(jobset, &old),
              ElementsAre("spec.replicatedJobs[0].replicas", std::string(kSlicePodPath) + ".spec.containers[0].image",
                          "spec.successPolicy.operator"));
}

TEST(JobSetUpdate, RefusesToAddRemoveOrReorderReplicatedJobs) {
  const Json old = without(tpu_jobset(), kSliceJob, "dependsOn");
  Json jobset = old;
  Json& jobs = jobset["spec"]["replicatedJobs"];
  std::swap(jobs[0], jobs[1]);
  EXPECT_THAT(jobset_paths(jobset, &old), ElementsAre("spec.replicatedJobs"));
  EXPECT_THAT(jobset_message(jobset, &old), HasSubstr(R"(["slice","driver"])"));
  jobs.erase(1);
  jobs[0]["replicas"] = 3;
  EXPECT_THAT(jobset_paths(jobset, &old), ElementsAre("spec.replicatedJobs", "spec.replicatedJobs[0].replicas"));
  EXPECT_THAT(jobset_paths(without(old, "/spec", "successPolicy"), &old), IsEmpty());
}

TEST(JobSetUpdate, AcceptsAddingAndRemovingWholePolicies) {
  const Json old = stored_jobset();
  for (const char* block : {"successPolicy", "failurePolicy", "startupPolicy", "network", "volumeClaimPolicies"}) {
    const Json bare = without(old, "/spec", block);
    EXPECT_THAT(jobset_message(bare, &old), IsEmpty()) << block;
    EXPECT_THAT(jobset_message(old, &bare), IsEmpty()) << block;
  }
}

TEST(JobSetUpdate, TreatsAbsentFieldsAsDefaults) {
  const Json bare = without(without(stored_jobset(), "/spec/failurePolicy/rules/0", "name"), kSliceJob, "groupName");
  Json full = bare;
  full["spec"]["network"]["publishNotReadyAddresses"] = true;
  full["spec"]["failurePolicy"]["restartStrategy"] = "Recreate";
  full["spec"]["failurePolicy"]["rules"][0]["name"] = "failurePolicyRule0";
  full["spec"]["volumeClaimPolicies"][0]["retentionPolicy"]["whenDeleted"] = "Delete";
  full["spec"]["replicatedJobs"][1]["groupName"] = "default";
  full["spec"]["replicatedJobs"][0]["template"]["spec"]["completionMode"] = "Indexed";
  full["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["restartPolicy"] = "OnFailure";
  EXPECT_THAT(jobset_message(full, &bare), IsEmpty());
  EXPECT_THAT(jobset_message(bare, &full), IsEmpty());
}

TEST(JobSetUpdate, AcceptsSchedulingChangesWhileSuspendedBeforeOrAfter) {
  const Json running = tpu_jobset();
  const Json suspended = with(running, "/spec/suspend", true);
  for (const auto& [field, value] :
       std::vector<std::pair<std::string, Json>>{{"/metadata/labels/a", "b"},
                                                 {"/metadata/annotations/a", "b"},
                                                 {"/spec/nodeSelector/pool", "p"},
                                                 {"/spec/tolerations/0/operator", "Exists"},
                                                 {"/spec/schedulingGates/0/name", "a.b/c"}}) {
    const Json resumed = with(running, kSlicePod + field, value);
    EXPECT_THAT(jobset_message(resumed, &suspended), IsEmpty()) << field;
    EXPECT_THAT(jobset_message(with(resumed, "/spec/suspend", true), &running), IsEmpty()) << field;
    EXPECT_THAT(jobset_message(running, &running), IsEmpty());
  }
  EXPECT_THAT(jobset_paths(with(suspended, kSlicePod + "/spec/priorityClassName", "high"), &suspended),
              ElementsAre(std::string(kSlicePodPath) + ".spec.priorityClassName"));
}

/// JobSet's KEP-1150.
TEST(JobSetUpdate, AcceptsChangesOfRequestsAndLimitsWhileSuspended) {
  const Json running = with(tpu_jobset(), kDriverJob + "/template/spec/template/spec/initContainers",
                            Json::parse(R"([{"name": "first", "image": "x"}])"));
  const Json suspended = with(running, "/spec/suspend", true);
  const std::string driver = kDriverJob + "/template/spec/template/spec";
  const std::string resources = driver + "/containers/0/resources";
  for (const std::string& field : {driver + "/containers/0", driver + "/initContainers/0"}) {
    const Json changed = Json::parse(R"({"requests": {"cpu": "2"}, "limits": {"memory": "4Gi"}})");
    const Json resumed = with(running, field + "/resources", changed);
    EXPECT_THAT(jobset_message(with(resumed, "/spec/suspend", true), &suspended), IsEmpty()) << field;
    EXPECT_THAT(jobset_message(resumed, &suspended), IsEmpty()) << field;
    EXPECT_THAT(jobset_message(suspended, &resumed), IsEmpty()) << "and removed";
    EXPECT_THAT(jobset_message(resumed, &running), HasSubstr("is immutable while the JobSet is not suspended"));
  }
  EXPECT_THAT(jobset_message(with(suspended, resources + "/claims", Json::parse(R"([{"name": "x"}])")), &suspended),
              HasSubstr("containers[0].resources.claims"));
  EXPECT_THAT(jobset_message(with(suspended, driver + "/initContainers/0/image", "y"), &suspended),
              HasSubstr("initContainers[0].image: Invalid value: \"y\": field is immutable, was \"x\""));
  Json more = suspended;
  more[Json::json_pointer(driver + "/initContainers")].push_back({{"name", "second"}, {"image", "x"}});
  EXPECT_THAT(jobset_message(more, &suspended), HasSubstr("spec.initContainers: Invalid value"));
}

/// The driver with these numbers of pods.
Json driver_of(const Json& parallelism, const Json& completions) {
  Json jobset = with(tpu_jobset(), kDriverJob + "/template/spec/parallelism", parallelism);
  return with(jobset, kDriverJob + "/template/spec/completions", completions);
}
const std::string kDriverJobPath = "spec.replicatedJobs[0].template.spec";

TEST(JobSetUpdate, AcceptsResizingAnIndexedJob) {
  const Json old = driver_of(2, 2);
  EXPECT_THAT(jobset_message(driver_of(4, 4), &old), IsEmpty());
  EXPECT_THAT(jobset_message(driver_of(1, 1), &old), IsEmpty());
  EXPECT_THAT(jobset_message(driver_of(nullptr, nullptr), &old), IsEmpty());
  EXPECT_THAT(jobset_paths(driver_of(4, 2), &old), ElementsAre(kDriverJobPath + ".completions"));
  EXPECT_THAT(jobset_paths(driver_of(2, 4), &old), ElementsAre(kDriverJobPath + ".completions"));
  EXPECT_THAT(jobset_paths(driver_of(2, nullptr), &old), ElementsAre(kDriverJobPath + ".completions"));
  EXPECT_THAT(jobset_paths(driver_of(0, 0), &old),
              ElementsAre(kDriverJobPath + ".parallelism", kDriverJobPath + ".completions"));
  const Json uneven = driver_of(2, 4);
  EXPECT_THAT(jobset_message(uneven, &uneven), IsEmpty());
}

TEST(JobSetUpdate, RefusesResizingANonIndexedJob) {
  const auto unindexed = [](Json jobset) {
    return with(std::move(jobset), kDriverJob + "/template/spec/completionMode", "NonIndexed");
  };
  const Json old = without(unindexed(driver_of(2, 2)), "/spec", "coordinator");
  EXPECT_THAT(jobset_paths(without(unindexed(driver_of(4, 4)), "/spec", "coordinator"), &old),
              ElementsAre(kDriverJobPath + ".completions", kDriverJobPath + ".parallelism"));
}

TEST(JobSetUpdate, RefusesResizingAFinishedJobSet) {
  for (const char* type : {"Completed", "Failed"}) {
    Json old = driver_of(2, 2);
    old["status"]["conditions"] = Json::array({Json({{"type", type}, {"status", "True"}})});
    EXPECT_THAT(jobset_paths(driver_of(4, 4), &old), ElementsAre(kDriverJobPath)) << type;
    EXPECT_THAT(jobset_message(driver_of(2, 2), &old), IsEmpty()) << type;
    old["status"]["conditions"][0]["status"] = "False";
    EXPECT_THAT(jobset_message(driver_of(4, 4), &old), IsEmpty()) << type;
  }
}

TEST(JobSetUpdate, RefusesResizingASlice) {
  const Json old = tpu_jobset();
  Json jobset = with(old, kSliceJob + "/template/spec/parallelism", 4);
  jobset = with(jobset, kSliceJob + "/template/spec/completions", 4);
  EXPECT_THAT(jobset_paths(jobset, &old), ElementsAre("spec.replicatedJobs[1].template.spec.parallelism",
                                                      "spec.replicatedJobs[1].template.spec.completions"));
}

TEST(JobSetUpdate, RefusesRemovingTheManager) {
  const Json ours = tpu_jobset();
  const Json theirs = with(ours, "/spec/managedBy", "acme.io/foo");
  EXPECT_THAT(jobset_message(theirs, &theirs), IsEmpty());
  EXPECT_THAT(jobset_paths(ours, &theirs), ElementsAre("spec.managedBy"));
}

// Objects from before a rule: finalizers must go, and the JobSet must be suspended, whatever else is wrong.
TEST(JobSetUpdate, LeavesOutErrorsOfTheOldObject) {
  const Json old = with(tpu_jobset(), "/spec/failurePolicy/rules/0/onJobFailureMessagePatterns/0", "a(b");
  EXPECT_THAT(jobset_paths(old), ElementsAre("spec.failurePolicy.rules[0].onJobFailureMessagePatterns[0]"));
  EXPECT_THAT(jobset_message(with(old, "/spec/suspend", true), &old), IsEmpty());
  EXPECT_THAT(jobset_paths(with(old, "/spec/coordinator/podIndex", 8), &old), ElementsAre("spec.coordinator.podIndex"));
}

}  // namespace
}  // namespace tpuslice::rules
