#include "cmd/kubectl-tpu/checks/migration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/kubectl-tpu/manifests.h"
#include "controllers/jobset/jobset_kind.h"

namespace tpuslice::plugin {
namespace {

using ::testing::HasSubstr;

Json job_set(const std::string& name) {
  return make_manifest("jobset", {.name = name,
                                  .namespace_name = "ml",
                                  .shape = parse_slice_shape("v6e-4x4").value(),
                                  .slices = 1,
                                  .image = "i",
                                  .command = {}})
      .value()
      .front();
}

TEST(Migration, AValidObjectIsOk) { EXPECT_EQ(check_object(jobset::kKind, job_set("a")).verdict, Verdict::kOk); }

TEST(Migration, AnObjectThatAdmissionRefusesFails) {
  Json object = job_set("a");
  object["spec"]["replicatedJobs"].push_back(object["spec"]["replicatedJobs"][0]);
  const Finding finding = check_object(jobset::kKind, object);
  EXPECT_EQ(finding.verdict, Verdict::kFailure);
  EXPECT_EQ(finding.check, "jobset/a -n ml");
  EXPECT_THAT(finding.text, HasSubstr("would be refused: spec.replicatedJobs"));
}

TEST(Migration, TheKindHasASummary) {
  Json wrong = job_set("b");
  wrong["spec"]["replicatedJobs"].push_back(wrong["spec"]["replicatedJobs"][0]);
  const std::vector<Finding> found = check_objects(jobset::kKind, {job_set("a"), wrong, wrong}, 1);
  ASSERT_EQ(found.size(), 2U) << "one object, and the summary";
  EXPECT_EQ(found.back().text, "3 objects: 2 cannot be taken over, 0 with warnings");
  EXPECT_TRUE(has(found, Verdict::kFailure));
}

}  // namespace
}  // namespace tpuslice::plugin
