#include "tpu/rules/field_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> changed(const char* before, const char* after) {
  std::vector<std::string> paths;
  for (const FieldChange& change : field_changes(Json::parse(before), Json::parse(after), "spec")) {
    paths.push_back(change.path);
  }
  return paths;
}

TEST(FieldChanges, HaveTheDeepestPath) {
  EXPECT_THAT(changed(R"({"a": {"b": [{"c": 1}, {"c": 2, "d": 3}]}})", R"({"a": {"b": [{"c": 1}, {"c": 4}]}})"),
              ElementsAre("spec.a.b[1].c", "spec.a.b[1].d"));
  EXPECT_THAT(changed(R"({"a": [1, 2]})", R"({"a": [1]})"), ElementsAre("spec.a"));
  EXPECT_THAT(changed(R"({"labels": {"x": "1", "metadata": "2"}})", R"({"labels": {"y": ""}})"),
              ElementsAre("spec.labels[metadata]", "spec.labels[x]", "spec.labels[y]"));
}

TEST(FieldChanges, HaveTheValuesBeforeAndAfter) {
  const auto changes = field_changes(Json::parse(R"({"a": 1})"), Json::parse(R"({"b": "x"})"), "spec");
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].before, 1);
  EXPECT_EQ(changes[0].after, nullptr);
  EXPECT_EQ(changes[1].before, nullptr);
  EXPECT_EQ(changes[1].after, "x");
}

// A program in Go that decodes an object and sends it back writes these in another way.
TEST(FieldChanges, IgnoreDifferencesWithoutMeaningInGo) {
  EXPECT_THAT(changed(R"({"args": [], "command": null, "image": ""})", "{}"), IsEmpty());
  EXPECT_THAT(changed("{}", R"({"metadata": {"creationTimestamp": null}, "resources": {}, "status": {}})"), IsEmpty());
  EXPECT_THAT(changed(R"({"hostNetwork": false, "containers": [{"tty": false, "ports": [{"hostPort": 0}]}]})",
                      R"({"containers": [{"ports": [{}]}]})"),
              IsEmpty());
  EXPECT_THAT(changed(R"({"resources": {"limits": {"cpu": "0.5", "memory": "1.5Gi", "google.com/tpu": 4}}})",
                      R"({"resources": {"limits": {"cpu": "500m", "memory": "1536Mi", "google.com/tpu": "4"}}})"),
              IsEmpty());
  EXPECT_THAT(changed(R"({"emptyDir": {"sizeLimit": "1024Mi"}})", R"({"emptyDir": {"sizeLimit": "1Gi"}})"), IsEmpty());
  EXPECT_THAT(changed(R"({"resourceFieldRef": {"resource": "limits.memory"}})",
                      R"({"resourceFieldRef": {"resource": "limits.memory", "divisor": "0"}})"),
              IsEmpty());
}

TEST(FieldChanges, ReportDifferencesWithMeaning) {
  EXPECT_THAT(changed(R"({"emptyDir": {}})", "{}"), ElementsAre("spec.emptyDir"));
  EXPECT_THAT(changed(R"({"automountServiceAccountToken": false})", "{}"),
              ElementsAre("spec.automountServiceAccountToken"));
  EXPECT_THAT(changed(R"({"backoffLimit": 0})", "{}"), ElementsAre("spec.backoffLimit"));
  EXPECT_THAT(changed(R"({"nodeSelector": {"a": ""}})", "{}"), ElementsAre("spec.nodeSelector[a]"));
  EXPECT_THAT(changed(R"({"storageClassName": ""})", "{}"), ElementsAre("spec.storageClassName"));
  EXPECT_THAT(changed(R"({"limits": {"cpu": "1"}})", R"({"limits": {"cpu": "1m"}})"), ElementsAre("spec.limits[cpu]"));
  EXPECT_THAT(changed(R"({"port": "80"})", R"({"port": 80})"), ElementsAre("spec.port"));
  EXPECT_THAT(changed(R"({"args": [""]})", R"({"args": ["x"]})"), ElementsAre("spec.args[0]"));
}

TEST(FieldChanges, HavePathsOfLimitedLength) {
  Json before;
  before[std::string(100'000, 'k')]["list"] = Json(1000, "a");
  Json after;
  after[std::string(100'000, 'k')]["list"] = Json(1000, "b");
  const std::vector<FieldChange> changes = field_changes(before, after, "spec");
  ASSERT_EQ(changes.size(), 1000U);
  for (const FieldChange& change : changes) EXPECT_LT(change.path.size(), 1024U);
}

}  // namespace
}  // namespace tpuslice::rules
