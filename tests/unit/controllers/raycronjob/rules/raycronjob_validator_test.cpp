#include "controllers/raycronjob/rules/validator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::raycronjob {
namespace {

using rules::testing::tpu_rayjob;
using rules::testing::with;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

Json tpu_raycronjob() {
  return {{"apiVersion", "ray.io/v1"},
          {"kind", "RayCronJob"},
          {"metadata", {{"name", "nightly"}, {"namespace", "default"}}},
          {"spec", {{"schedule", "30 2 * * *"}, {"jobTemplate", tpu_rayjob()["spec"]}}}};
}

std::string refusal(const Json& cron_job, const Json* old = nullptr) {
  return to_message(validate_raycronjob(cron_job, old));
}

std::vector<std::string> paths(const Json& cron_job) {
  std::vector<std::string> out;
  for (const rules::FieldError& error : validate_raycronjob(cron_job, nullptr)) out.push_back(error.path);
  return out;
}

TEST(ValidateRayCronJob, AcceptsALegalOne) {
  EXPECT_THAT(refusal(tpu_raycronjob()), IsEmpty());
  EXPECT_THAT(refusal(with(tpu_raycronjob(), "/spec/timeZone", "Asia/Taipei")), IsEmpty());
  EXPECT_THAT(refusal(with(tpu_raycronjob(), "/spec/suspend", true)), IsEmpty());
  EXPECT_THAT(unsupported_raycronjob_fields(tpu_raycronjob()), IsEmpty());
}

TEST(ValidateRayCronJob, AcceptsTheSample) {
  const Json sample = parse_yaml(read_file("deploy/samples/raycronjob-train-v6e-4x4.yaml").value()).value();
  EXPECT_THAT(refusal(sample), IsEmpty());
  EXPECT_THAT(unsupported_raycronjob_fields(sample), IsEmpty());
  EXPECT_THAT(warn_raycronjob(sample, nullptr), IsEmpty());
}

TEST(ValidateRayCronJob, ReportsWrongTypesOfAnyOtherJson) {
  for (const Json& json : {Json(), Json(1), Json::array(), Json::object()}) {
    static_cast<void>(validate_raycronjob(json, &json));
    EXPECT_THAT(warn_raycronjob(json, &json), IsEmpty());
    EXPECT_THAT(unsupported_raycronjob_fields(json), IsEmpty());
  }
  EXPECT_THAT(paths({{"spec", 1}}), ElementsAre("spec"));
  EXPECT_THAT(paths({{"spec", Json::object()}}), ElementsAre("spec.schedule", "spec.jobTemplate"));
  for (const char* field : {"schedule", "timeZone", "suspend", "jobTemplate"}) {
    const std::string path = std::string("spec.") + field;
    EXPECT_THAT(paths(with(tpu_raycronjob(), std::string("/spec/") + field, 7)), ElementsAre(path));
  }
}

TEST(ValidateRayCronJob, SaysWhatIsWrongWithTheSchedule) {
  EXPECT_EQ(refusal(with(tpu_raycronjob(), "/spec/schedule", "61 * * * *")),
            "spec.schedule: Invalid value: \"61 * * * *\": minute \"61\": 61 is out of range, 0 to 59");
  EXPECT_THAT(refusal(with(tpu_raycronjob(), "/spec/schedule", "")), HasSubstr("spec.schedule: "));
}

TEST(ValidateRayCronJob, SaysWhatIsWrongWithTheTimeZone) {
  EXPECT_THAT(refusal(with(tpu_raycronjob(), "/spec/timeZone", "Invalid/Zone")),
              AllOf(StartsWith("spec.timeZone: Invalid value: \"Invalid/Zone\": "), HasSubstr("Europe/Berlin")));
  EXPECT_THAT(refusal(with(tpu_raycronjob(), "/spec/timeZone", "")), HasSubstr("must not be empty; omit it"));
}

TEST(ValidateRayCronJob, LimitsTheNameToThatOfItsRayJobs) {
  EXPECT_THAT(refusal(with(tpu_raycronjob(), "/metadata/name", std::string(36, 'a'))), IsEmpty());
  EXPECT_THAT(refusal(with(tpu_raycronjob(), "/metadata/name", std::string(37, 'a'))),
              HasSubstr("must be no more than 36 characters, because names of RayJobs are derived from it"));
}

TEST(ValidateRayCronJob, ReportsErrorsOfTheRayJobWithTheirPaths) {
  Json cron_job = tpu_raycronjob();
  cron_job["spec"]["jobTemplate"].erase("rayClusterSpec");
  EXPECT_EQ(refusal(cron_job),
            "spec.jobTemplate.rayClusterSpec: Required value: or set spec.jobTemplate.clusterSelector[ray.io/cluster]");
  EXPECT_THAT(paths(with(tpu_raycronjob(), "/spec/jobTemplate/rayClusterSpec/workerGroupSpecs/0/numOfHosts", 3)),
              AllOf(SizeIs(1), Each(StartsWith("spec.jobTemplate.rayClusterSpec.workerGroupSpecs[0]"))));
  EXPECT_THAT(paths(with(tpu_raycronjob(), "/spec/jobTemplate/backoffLimit", -1)),
              Contains("spec.jobTemplate.backoffLimit"));
}

TEST(ValidateRayCronJob, NamesUnsupportedFieldsOfTheRayJob) {
  const Json cron_job =
      with(tpu_raycronjob(), "/spec/jobTemplate/rayClusterSpec/gcsFaultToleranceOptions", {{"backend", "rocksdb"}});
  const auto fields = unsupported_raycronjob_fields(cron_job);
  ASSERT_THAT(fields, SizeIs(1));
  EXPECT_THAT(fields[0].path, StartsWith("spec.jobTemplate.rayClusterSpec.gcsFaultToleranceOptions"));
}

TEST(ValidateRayCronJob, RefusesFieldsThatOnlyCronJobsHave) {
  for (const char* field :
       {"concurrencyPolicy", "startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"}) {
    EXPECT_THAT(refusal(with(tpu_raycronjob(), std::string("/spec/") + field, 1)),
                AllOf(StartsWith(std::string("spec.") + field + ": Forbidden: "),
                      HasSubstr("RayCronJobs do not have this field of CronJobs")));
  }
}

TEST(ValidateRayCronJob, LeavesOutTheErrorsOfTheStoredObject) {
  const Json old = with(tpu_raycronjob(), "/spec/schedule", "61 * * * *");
  EXPECT_THAT(refusal(with(old, "/spec/suspend", true), &old), IsEmpty());
  EXPECT_THAT(refusal(with(old, "/spec/timeZone", ""), &old), StartsWith("spec.timeZone"));
}

TEST(WarnRayCronJob, WarnsAboutRayJobsThatAreKept) {
  const Json plain = tpu_raycronjob();
  EXPECT_THAT(warn_raycronjob(plain, nullptr),
              ElementsAre(HasSubstr("has no rule with the policy DeleteSelf, so the RayJobs of all runs are kept")));
  EXPECT_THAT(warn_raycronjob(plain, &plain), IsEmpty());
  const Json rules = Json::array({{{"policy", "DeleteSelf"}, {"condition", {{"jobStatus", "SUCCEEDED"}}}}});
  EXPECT_THAT(warn_raycronjob(with(plain, "/spec/jobTemplate/deletionStrategy", {{"deletionRules", rules}}), nullptr),
              IsEmpty());
}

TEST(WarnRayCronJob, HasTheWarningsOfTheRayJob) {
  Json cron_job = tpu_raycronjob();
  cron_job["spec"]["jobTemplate"].erase("shutdownAfterJobFinishes");
  cron_job["spec"]["jobTemplate"].erase("deletionStrategy");
  EXPECT_THAT(warn_raycronjob(cron_job, nullptr),
              Contains(StartsWith("spec.jobTemplate.shutdownAfterJobFinishes: is not set")));
}

TEST(WarnRayCronJob, WarnsAboutOneIdForAllRuns) {
  Json cron_job = tpu_raycronjob();
  Json& job = cron_job["spec"]["jobTemplate"];
  job.erase("rayClusterSpec");
  job["clusterSelector"] = {{"ray.io/cluster", "shared"}};
  job["jobId"] = "one";
  EXPECT_THAT(warn_raycronjob(cron_job, nullptr), Contains(StartsWith("spec.jobTemplate.jobId: all runs have this")));
}

}  // namespace
}  // namespace tpuslice::raycronjob
