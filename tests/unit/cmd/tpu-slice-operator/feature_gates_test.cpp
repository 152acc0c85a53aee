#include "cmd/tpu-slice-operator/feature_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice {
namespace {

using ::testing::HasSubstr;

FeatureGates gates(std::string_view text) {
  auto parsed = FeatureGates::parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message();
  return parsed.value_or(FeatureGates());
}

TEST(FeatureGates, OfAlphaFeaturesAreOffAndThoseOfBetaFeaturesAreOn) {
  EXPECT_FALSE(gates("").enabled(kSlicePreemption));
  EXPECT_FALSE(gates("").enabled(kProvisioningRequests));
  EXPECT_TRUE(gates("").enabled(kScoutPods));
}

TEST(FeatureGates, AreSetByName) {
  const FeatureGates some = gates("SlicePreemption=true, ScoutPods=false");
  EXPECT_TRUE(some.enabled(kSlicePreemption));
  EXPECT_FALSE(some.enabled(kScoutPods));
  EXPECT_FALSE(some.enabled(kProvisioningRequests));
}

TEST(FeatureGates, OfAStageAreSetTogetherButThoseThatAreNamed) {
  const FeatureGates some = gates("AllAlpha=true,SlicePreemption=false,AllBeta=false");
  EXPECT_TRUE(some.enabled(kProvisioningRequests));
  EXPECT_FALSE(some.enabled(kSlicePreemption));
  EXPECT_FALSE(some.enabled(kScoutPods));
}

TEST(FeatureGates, AreRefusedWithWhatWasFoundAndWhatIsExpected) {
  const auto unknown = FeatureGates::parse("Preemption=true");
  EXPECT_THAT(
      unknown,
      IsError(
          ErrorCode::kInvalidArgument,
          "found \"Preemption\", which is not a feature; expected ProvisioningRequests, ScoutPods, SlicePreemption, "
          "AllAlpha or AllBeta"));
  for (const char* wrong : {"SlicePreemption", "SlicePreemption=yes", "SlicePreemption=", ",", "=true"})
    EXPECT_THAT(FeatureGates::parse(wrong), IsError(ErrorCode::kInvalidArgument)) << wrong;
}

TEST(FeatureGates, AreNamedByWhatNeedsThem) {
  EXPECT_TRUE(gates("").require(kScoutPods).ok());
  const Status needed = gates("").require(kSlicePreemption);
  EXPECT_THAT(needed, IsError(ErrorCode::kInvalidArgument,
                              "--max-preemptions-per-hour needs --feature-gates=SlicePreemption=true"));
}

TEST(FeatureGates, AreReportedAsThoseOfKubernetes) {
  Metrics metrics;
  gates("SlicePreemption=true").report(metrics);
  EXPECT_THAT(metrics.scrape(), HasSubstr("kubernetes_feature_enabled{name=\"SlicePreemption\",stage=\"ALPHA\"} 1"));
  EXPECT_THAT(metrics.scrape(),
              HasSubstr("kubernetes_feature_enabled{name=\"ProvisioningRequests\",stage=\"ALPHA\"} 0"));
  EXPECT_THAT(metrics.scrape(), HasSubstr("kubernetes_feature_enabled{name=\"ScoutPods\",stage=\"BETA\"} 1"));
}

}  // namespace
}  // namespace tpuslice
