#include "tpu/rules/field_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::EndsWith;
using ::testing::IsEmpty;

TEST(FieldError, PrintsLikeTheApiServer) {
  EXPECT_EQ(invalid_value("spec.x", 2, "set 4", kGkeRule).to_string(), "spec.x: Invalid value: 2: set 4");
  EXPECT_EQ(invalid_value("spec.x", "a", "b", kGkeRule).to_string(), "spec.x: Invalid value: \"a\": b");
  EXPECT_EQ(required_value("spec.x", "why", kGkeRule).to_string(), "spec.x: Required value: why");
  EXPECT_EQ(forbidden("spec.x", "why", kGkeRule).to_string(), "spec.x: Forbidden: why");
  EXPECT_EQ(required_value("spec.x", "", kGkeRule).to_string(), "spec.x: Required value");
  EXPECT_EQ(not_supported("spec.x", "c", {"a", "b"}, kGkeRule).to_string(),
            "spec.x: Unsupported value: \"c\": supported values: \"a\", \"b\"");
  EXPECT_EQ(too_many("spec.x", 6, 5, kGkeRule).to_string(), "spec.x: Too many: 6: must have at most 5 items");
}

TEST(FieldError, TruncatesLongValuesBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\xc3\xa4";
  const std::string printed = invalid_value("x", text, "y", kGkeRule).to_string();
  EXPECT_LT(printed.size(), 200U);
  EXPECT_NO_THROW(Json(printed).dump());
}

TEST(FieldError, PrintsInvalidUtf8) {
  EXPECT_NO_THROW(Json(invalid_value("x", "\xff\xfe", "y", kGkeRule).to_string()).dump());
}

TEST(FieldErrors, AreJoinedIntoOneMessage) {
  const FieldError a = forbidden("a", "x", kGkeRule);
  const FieldError b = forbidden("b", "y", kGkeRule);
  EXPECT_EQ(to_message({}), "");
  EXPECT_EQ(to_message({a}), "a: Forbidden: x");
  EXPECT_EQ(to_message({a, b}), "[a: Forbidden: x, b: Forbidden: y]");
}

FieldCheck adds(std::vector<FieldError> found) {
  return [found = std::move(found)](FieldErrors& errors) {
    for (const FieldError& error : found) errors.push_back(error);
  };
}

std::vector<FieldError> numbered(int first, int last) {
  std::vector<FieldError> out;
  for (int i = first; i <= last; ++i) out.push_back(invalid_value("a", i, "x", kOurRule));
  return out;
}

TEST(FieldErrors, AreNewIfValueOrRuleDiffers) {
  const FieldError two = invalid_value("a", 2, "x", kGkeRule);
  const FieldError three = invalid_value("a", 3, "x", kGkeRule);
  const FieldError ours = invalid_value("a", 2, "x", kOurRule);
  EXPECT_THAT(new_errors(adds({two, three, ours}), adds({two})), ElementsAre(three, ours));
  EXPECT_THAT(new_errors(adds({two}), adds({})), ElementsAre(two));
  EXPECT_THAT(new_errors(adds({two}), {}), ElementsAre(two));
  EXPECT_THAT(new_errors(adds({two}), adds({two})), IsEmpty());
}

TEST(FieldErrors, AreNewBehindMoreKnownOnesThanAreReported) {
  const FieldErrors left = new_errors(adds(numbered(1, 100)), adds(numbered(1, 98)));
  EXPECT_THAT(left, ElementsAreArray(numbered(99, 100)));
}

TEST(FieldErrors, KeepThoseThatAreReportedAndCountTheOthers) {
  FieldErrors errors;
  int made = 0;
  for (int i = 1; i <= 1000; ++i) {
    errors.add([&] {
      ++made;
      return invalid_value("a", i, "x", kOurRule);
    });
  }
  errors.push_back(forbidden("b", "x", kOurRule));
  EXPECT_THAT(errors, ElementsAreArray(numbered(1, 16)));
  EXPECT_EQ(errors.size(), 1001U);
  EXPECT_EQ(made, 16);
  EXPECT_THAT(to_message(errors), EndsWith("a: Invalid value: 16: x, and 985 more]"));
}

TEST(FieldErrors, PassEachToTheirReceiver) {
  std::vector<FieldError> received;
  FieldErrors errors([&](FieldError&& error) { received.push_back(std::move(error)); });
  for (int i = 1; i <= 20; ++i) errors.add([&] { return invalid_value("a", i, "x", kOurRule); });
  EXPECT_EQ(received, numbered(1, 20));
  EXPECT_EQ(errors.size(), 20U);
  EXPECT_EQ(errors.begin(), errors.end());
}

TEST(FieldError, ShortensLongPathsAndDetails) {
  const std::string key(100'000, 'k');
  const FieldError error = forbidden("metadata.labels[" + key + "]", "is not allowed: " + key, kOurRule);
  EXPECT_LT(error.to_string().size(), 2048U);
  EXPECT_LT(error.shown_path().size(), 1024U);
  FieldErrors errors;
  for (int i = 0; i < 100; ++i) errors.push_back(error);
  EXPECT_LT(to_message(errors).size(), kMaxReportedErrors * 2048);
}

}  // namespace
}  // namespace tpuslice::rules
