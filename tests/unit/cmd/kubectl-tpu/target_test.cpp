#include "cmd/kubectl-tpu/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::plugin {
namespace {

using ::testing::HasSubstr;

TEST(Target, IsAKindAndAName) {
  EXPECT_EQ(parse_target("RayJob/train").value().kind, "rayjob");
  EXPECT_EQ(parse_target("train").value().kind, "");
  EXPECT_EQ(parse_target("train").value().name, "train");
  for (const char* wrong : {"", "/train", "rayjob/", "a/b/c", "a b"}) {
    EXPECT_THAT(parse_target(wrong), IsError(ErrorCode::kInvalidArgument)) << wrong;
  }
}

TEST(Target, KindsHaveTheNamesThatKubectlKnows) {
  for (const char* name : {"jobset", "JobSets", "jobsets.jobset.x-k8s.io"}) {
    EXPECT_EQ(workload_type_of(name).value().kind, "JobSet") << name;
  }
  EXPECT_EQ(workload_type_of("lws").value().kind, "LeaderWorkerSet");
  EXPECT_EQ(workload_type_of("sts").value().kind, "StatefulSet");
  EXPECT_THAT(workload_type_of("deployment"), IsError(ErrorCode::kInvalidArgument, HasSubstr("rayjob")));
}

TEST(Target, PoolsHaveAPrefix) {
  EXPECT_EQ(pool_name_of("pool/v6e-a").value(), "v6e-a");
  EXPECT_THAT(pool_name_of("v6e-a"), IsError(ErrorCode::kInvalidArgument, HasSubstr("pool/NAME")));
  EXPECT_THAT(pool_name_of("pool/"), IsError(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace tpuslice::plugin
