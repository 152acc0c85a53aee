// Fields of PodView that decide about preemption, backfill and grace periods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/views.h"

namespace tpuslice {
namespace {

PodView with_spec(const std::string& spec, const std::string& status = "{}") {
  const std::string text =
      R"({"spec": )" + spec + R"(, "status": )" + status + R"(, "metadata": {"name": "p", "uid": "u"}})";
  PodView pod = PodView::decode(text).value();
  EXPECT_EQ(PodView::from_json(parse_json(text).value()).value(), pod);
  return pod;
}

TEST(PodPreemptionPolicy, IsNeverOnlyIfItSaysSo) {
  EXPECT_TRUE(with_spec(R"({"preemptionPolicy": "Never"})").never_preempts);
  EXPECT_FALSE(with_spec(R"({"preemptionPolicy": "PreemptLowerPriority"})").never_preempts);
  EXPECT_FALSE(with_spec(R"({"preemptionPolicy": "never"})").never_preempts);
  EXPECT_FALSE(with_spec("{}").never_preempts);
}

TEST(PodPreemptionPolicy, IsKeptOfABoundPod) {
  EXPECT_TRUE(with_spec(R"({"preemptionPolicy": "Never", "nodeName": "n"})").never_preempts);
}

TEST(PodActiveDeadline, IsReadAsAWholeNumber) {
  EXPECT_EQ(with_spec(R"({"activeDeadlineSeconds": 3600})").active_deadline_seconds, 3600);
  EXPECT_EQ(with_spec(R"({"activeDeadlineSeconds": 9223372036854775807})").active_deadline_seconds,
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(with_spec("{}").active_deadline_seconds, std::nullopt);
  EXPECT_EQ(with_spec(R"({"activeDeadlineSeconds": 60, "nodeName": "n"})").active_deadline_seconds, 60)
      << "backfill reads it of running pods";
}

TEST(PodActiveDeadline, IsAbsentIfItIsNull) {
  EXPECT_EQ(with_spec(R"({"activeDeadlineSeconds": null})").active_deadline_seconds, std::nullopt)
      << "not a deadline of 0 seconds";
}

TEST(PodGracePeriod, IsThatOfItsSpecUntilItIsDeleted) {
  EXPECT_EQ(with_spec("{}").grace_seconds, 30) << "the API server's default";
  EXPECT_EQ(with_spec(R"({"terminationGracePeriodSeconds": 600})").grace_seconds, 600);
  EXPECT_EQ(with_spec(R"({"terminationGracePeriodSeconds": 0, "nodeName": "n"})").grace_seconds, 0);
  const PodView terminating =
      PodView::decode(R"({"metadata": {"name": "p", "uid": "u", "deletionGracePeriodSeconds": 5},
                                                  "spec": {"terminationGracePeriodSeconds": 600}})")
          .value();
  EXPECT_EQ(terminating.grace_seconds, 5);
}

TEST(PodNomination, IsANodeForWhichOtherPodsArePreempted) {
  EXPECT_TRUE(with_spec("{}", R"({"nominatedNodeName": "n"})").nominated);
  EXPECT_FALSE(with_spec("{}", R"({"nominatedNodeName": ""})").nominated);
  EXPECT_FALSE(with_spec("{}").nominated);
  EXPECT_FALSE(with_spec(R"({"nodeName": "n"})", R"({"nominatedNodeName": "n"})").nominated) << "it has its node";
}

TEST(PodDisruption, IsTheReasonOfATrueCondition) {
  const auto disruption = [](const std::string& status, const std::string& reason) {
    return with_spec("{}", R"({"conditions": [{"type": "DisruptionTarget", "status": ")" + status +
                               R"(", "reason": ")" + reason + R"("}]})")
        .disruption;
  };
  EXPECT_EQ(disruption("True", "PreemptionByScheduler"), "PreemptionByScheduler");
  EXPECT_EQ(disruption("False", "PreemptionByScheduler"), "") << "reset, as the pod was not deleted";
  EXPECT_EQ(with_spec("{}").disruption, "");
}

}  // namespace
}  // namespace tpuslice
