#include "tpu/variable_value.h"

#include <gtest/gtest.h>

namespace tpuslice::tpu {
namespace {

Json of_field(const std::string& path) { return {{"name", "A"}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}}; }

TEST(VariableValue, IsThatOfTheEntryOrOfTheFieldOfThePod) {
  const Json pod = {{"metadata",
                     {{"name", "train-0"},
                      {"namespace", "ml"},
                      {"labels", {{"app", "train"}}},
                      {"annotations", {{"batch.kubernetes.io/job-completion-index", "3"}}}}}};
  EXPECT_EQ(variable_value(pod, {{"name", "A"}, {"value", "1"}}), "1");
  EXPECT_EQ(variable_value(pod, {{"name", "A"}}), "");
  EXPECT_EQ(variable_value(pod, of_field("metadata.annotations['batch.kubernetes.io/job-completion-index']")), "3");
  EXPECT_EQ(variable_value(pod, of_field("metadata.labels['app']")), "train");
  EXPECT_EQ(variable_value(pod, of_field("metadata.labels['none']")), "");
  EXPECT_EQ(variable_value(pod, of_field("metadata.name")), "train-0");
  EXPECT_EQ(variable_value(pod, of_field("metadata.namespace")), "ml");
  EXPECT_EQ(variable_value(pod, of_field("status.hostIP")), "<status.hostIP>");
}

}  // namespace
}  // namespace tpuslice::tpu
