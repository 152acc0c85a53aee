#include "fleet/workload_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::fleet {
namespace {

TEST(References, AreReadAsKubectlReadsThem) {
  const WorkloadName set{"default", "LeaderWorkerSet", "serve"};
  for (const char* text : {"lws/serve", "leaderworkerset/serve", "LeaderWorkerSets/serve",
                           "leaderworkersets.leaderworkerset.x-k8s.io/serve"}) {
    const auto reference = read_reference(text);
    ASSERT_TRUE(reference.ok()) << text;
    EXPECT_TRUE(names(*reference, set)) << text;
  }
  EXPECT_FALSE(names(*read_reference("lws/other"), set));
  EXPECT_FALSE(names(*read_reference("jobset/serve"), set));
  EXPECT_EQ(read_reference("pools/v6e-a")->kind, "pool");
  EXPECT_EQ(read_reference("sts/x")->kind, "statefulset");
}

TEST(References, NeedAKindAndAName) {
  for (const char* text : {"", "train", "/train", "jobset/", "a/b/c"})
    EXPECT_THAT(read_reference(text), IsError(ErrorCode::kInvalidArgument)) << text;
}

}  // namespace
}  // namespace tpuslice::fleet
