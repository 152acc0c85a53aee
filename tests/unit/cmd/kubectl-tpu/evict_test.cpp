#include "cmd/kubectl-tpu/evict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"

namespace tpuslice::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RestartCost cost(std::string_view kind, const std::string& yaml, int hosts = 4) {
  return restart_cost(kind, parse_yaml(yaml).value(), hosts);
}

TEST(RestartCost, OfAJobIsAFailureOfEachHost) {
  EXPECT_FALSE(cost("Job", "spec: {}").fails);
  EXPECT_THAT(cost("Job", "spec: {}").text, HasSubstr("4 of 6"));
  EXPECT_TRUE(cost("Job", "spec: {}", 8).fails);
  EXPECT_FALSE(cost("Job", "spec: {backoffLimitPerIndex: 1}", 8).fails);
  EXPECT_FALSE(cost("Job",
                    "spec: {backoffLimit: 0, podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: "
                    "DisruptionTarget}]}]}}")
                   .fails);
}

TEST(RestartCost, OfAJobSetIsARestart) {
  const std::string pods = "template: {spec: {containers: [{resources: {limits: {google.com/tpu: 4}}}]}}";
  const std::string jobs = "replicatedJobs: [{template: {spec: {backoffLimit: 0, " + pods + "}}}]";
  EXPECT_TRUE(cost("JobSet", "spec: {" + jobs + "}").fails);
  EXPECT_FALSE(cost("JobSet", "spec: {failurePolicy: {maxRestarts: 1}, " + jobs + "}").fails);
  EXPECT_TRUE(
      cost("JobSet", "{spec: {failurePolicy: {maxRestarts: 1}, " + jobs + "}, status: {restartsCountTowardsMax: 1}}")
          .fails);
}

TEST(RestartCost, OfAJobSetIsThatOfItsJobsWithTpus) {
  const std::string driver = "{template: {spec: {template: {spec: {containers: [{name: main}]}}}}}";
  const std::string slice =
      "{template: {spec: {backoffLimit: 0, template: {spec: {containers: [{resources: {limits: {google.com/tpu: "
      "4}}}]}}}}}";
  EXPECT_TRUE(cost("JobSet", "spec: {replicatedJobs: [" + driver + ", " + slice + "]}").fails);
}

TEST(RestartCost, OfARayClusterIsNothing) { EXPECT_FALSE(cost("RayCluster", "spec: {}").fails); }

Object pod(const std::string& name, const std::string& slice, const std::string& phase = "Running") {
  return Object({{"metadata",
                  {{"name", name},
                   {"uid", "uid-" + name},
                   {"namespace", "ml"},
                   {"labels", {{"tpuslice.dev/slice", slice}}},
                   {"annotations", {{"tpuslice.dev/slice-host", name.substr(name.size() - 1)}}}}},
                 {"spec", {{"containers", Json::array({{{"name", "main"}}})}}},
                 {"status", {{"phase", phase}}}});
}

TEST(Evictions, TakeTheFirstLiveHostOfEachSliceThatIsNotTornDown) {
  Object terminating = pod("a-0", "a");
  terminating.mutable_json()["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  Object companion = pod("d-x", "d");
  companion.mutable_json()["metadata"].erase("annotations");
  const std::vector<Object> chosen =
      one_pod_of_each_slice({terminating, pod("a-1", "a"), pod("b-0", "b", "Succeeded"), pod("b-1", "b"),
                             pod("c-0", "c", "Pending"), companion, pod("d-0", "d")});
  std::vector<std::string> names;
  for (const Object& each : chosen) names.push_back(each.name());
  EXPECT_THAT(names, ElementsAre("b-1", "c-0", "d-0"));
}

}  // namespace
}  // namespace tpuslice::plugin
