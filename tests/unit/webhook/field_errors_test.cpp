#include "webhook/rules/field_errors.h"

#include <gtest/gtest.h>

namespace tpuslice::webhook {
namespace {

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

TEST(FieldErrors, AreNewIfValueOrRuleDiffers) {
  const FieldError two = invalid_value("a", 2, "x", kGkeRule);
  const FieldError three = invalid_value("a", 3, "x", kGkeRule);
  const FieldError ours = invalid_value("a", 2, "x", kOurRule);
  EXPECT_EQ(new_errors({two, three, ours}, {two}), (std::vector<FieldError>{three, ours}));
}

TEST(FieldError, ShortensLongPathsAndDetails) {
  const std::string key(100'000, 'k');
  const FieldError error = forbidden("metadata.labels[" + key + "]", "is not allowed: " + key, kOurRule);
  EXPECT_LT(error.to_string().size(), 2048U);
  EXPECT_LT(error.shown_path().size(), 1024U);
  EXPECT_LT(to_message(std::vector(100, error)).size(), kMaxReportedErrors * 2048);
}

}  // namespace
}  // namespace tpuslice::webhook
