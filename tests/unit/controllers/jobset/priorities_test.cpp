#include "controllers/jobset/priorities.h"

#include <gtest/gtest.h>

#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

constexpr std::int32_t kLeastPriority = std::numeric_limits<std::int32_t>::min();

JobSetBuilder of_priority_class(const std::string& name) {
  return a_jobset("train").job("workers").of_pod("/spec/priorityClassName", name);
}

/// The label of pods; empty without. Jobs have none.
std::string priority_label_of(const JobSetBuilder& jobset, const Priorities& priorities) {
  const JobBuilder builder(jobset.object(), {}, {}, priorities);
  const Json job = builder.build(0, 0).value();
  EXPECT_EQ(string_at(job, {"metadata", "labels", kPriority}), "");
  return string_at(job, {"spec", "template", "metadata", "labels", kPriority});
}

TEST(Priorities, AreALabelOfPods) {
  const Priorities known{.by_class = {{"high", 1000}}, .without_class = 0};
  EXPECT_EQ(priority_label_of(of_priority_class("high"), known), "1000");
  EXPECT_EQ(priority_label_of(a_jobset("train").job("workers"), known), "0");
  EXPECT_EQ(priority_label_of(of_priority_class("high").hosts(4).tpu(kV6e, "4x4"), known), "1000");
}

TEST(Priorities, BelowZeroAreWrittenAsALabelCanBe) {
  EXPECT_EQ(priority_label_of(of_priority_class("low"), {.by_class = {{"low", -1}}}), "n1");
  EXPECT_EQ(priority_label(kLeastPriority), "n2147483648");
}

TEST(Priorities, ThatAreNotKnownAreNoLabel) {
  EXPECT_EQ(priority_label_of(of_priority_class("high"), {.by_class = {}, .without_class = 0}), "");
  EXPECT_EQ(priority_label_of(a_jobset("train").job("workers"), {}), "");
}

TEST(Priorities, AreNoLabelWithTheStrategyOfLabelledNodes) {
  const JobSetBuilder jobset = of_priority_class("high")
                                   .annotation(std::string(kJobSetTopologyKey), "pool")
                                   .annotation(std::string(kJobSetNodeSelector), "true");
  EXPECT_EQ(priority_label_of(jobset, {.by_class = {{"high", 1000}}}), "");
}

}  // namespace
}  // namespace tpuslice::jobset
