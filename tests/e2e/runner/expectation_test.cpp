#include "tests/e2e/runner/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json pod_on(const std::string& name, const std::string& node) {
  return {{"metadata", {{"name", name}}}, {"spec", {{"nodeName", node}}}, {"ids", {1, 2}}};
}

const std::vector<Json>& two_pods() {
  static const std::vector<Json> kPods = {pod_on("a", "pool-x-0"), pod_on("b", "pool-x-1")};
  return kPods;
}

std::string check(const std::string& path, FieldCheck field, const std::vector<Json>& objects = two_pods()) {
  field.path = FieldPath::parse(path).value();
  Expectation expectation;
  expectation.fields.push_back(std::move(field));
  return mismatch(expectation, objects, {{"old", {"pool-x-1", "pool-x-0"}}, {"other", {"pool-y-0"}}});
}

TEST(Expectation, CountsObjects) {
  EXPECT_THAT(mismatch({}, {}, {}), HasSubstr("expected at least one"));
  EXPECT_THAT(mismatch({}, two_pods(), {}), IsEmpty());
  EXPECT_THAT(mismatch({.count = 0}, {}, {}), IsEmpty());
  EXPECT_EQ(mismatch({.count = 1}, two_pods(), {}), "found 2 objects a b, expected 1");
}

TEST(Expectation, ComparesEveryObject) {
  EXPECT_THAT(check(".spec.nodeName", {.value = "pool-x-0"}), HasSubstr("b: .spec.nodeName: found \"pool-x-1\""));
  EXPECT_THAT(check(".spec.nodeName", {.value = "pool-x-0"}, {two_pods().front()}), IsEmpty());
  EXPECT_EQ(check(".spec.hostname", {.value = "a"}), "a has no .spec.hostname");
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kMatches, .pattern = std::regex("^pool-x")}),
              IsEmpty());
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kMatches, .pattern = std::regex("0$")}),
              HasSubstr("b: .spec.nodeName"));
}

TEST(Expectation, ChecksForAbsentAndPresentFields) {
  EXPECT_THAT(check(".spec.hostname", {.comparison = Comparison::kAbsent}), IsEmpty());
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kAbsent}), HasSubstr("expected to be absent"));
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kPresent}), IsEmpty());
  EXPECT_THAT(check(".spec.hostname", {.comparison = Comparison::kPresent}), HasSubstr("a has no"));
}

TEST(Expectation, ComparesTheValuesOfAllObjects) {
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kAnyOrder, .value = {"pool-x-1", "pool-x-0"}}),
              IsEmpty());
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kAnyOrder, .value = {"pool-x-0"}}),
              HasSubstr("in any order"));
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kAllDistinct}), IsEmpty());
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kAllEqual}), HasSubstr("all to be equal"));
  EXPECT_THAT(check(".ids[*]", {.comparison = Comparison::kAllDistinct}), HasSubstr("all to be distinct"));
}

TEST(Expectation, ComparesAPartOfTheValue) {
  const std::regex pool("^(.*)-[0-9]+$");
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kAllEqual, .part = pool}), IsEmpty());
  EXPECT_THAT(check(".spec.nodeName", {.value = "pool-x", .part = pool}), IsEmpty());
  EXPECT_THAT(check(".spec.nodeName", {.value = "pool-x", .part = std::regex("^(y)")}), HasSubstr("no such part"));
}

TEST(Expectation, ComparesWithSavedValues) {
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kSameAs, .value = "old"}), IsEmpty());
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kSameAs, .value = "other"}), HasSubstr("the same as"));
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kNoneOf, .value = "other"}), IsEmpty());
  EXPECT_THAT(check(".spec.nodeName", {.comparison = Comparison::kNoneOf, .value = "old"}), HasSubstr("is one of old"));
}

}  // namespace
}  // namespace tpuslice::e2e
