#include "tests/e2e/runner/field_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Json> values(const std::string& path, const Json& json) {
  const auto parsed = FieldPath::parse(path);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message();
  return parsed->values(json);
}

TEST(FieldPath, FollowsMembersIndexesAndFilters) {
  const Json pod = {{"metadata", {{"labels", {{"ray.io/cluster", "train"}}}}},
                    {"env", {{{"name", "A"}, {"value", "1"}}, {{"name", "B.c"}, {"value", "2"}}}}};
  EXPECT_THAT(values(R"(.metadata.labels.ray\.io/cluster)", pod), ElementsAre("train"));
  EXPECT_THAT(values(".env[0].value", pod), ElementsAre("1"));
  EXPECT_THAT(values(".env[*].value", pod), ElementsAre("1", "2"));
  EXPECT_THAT(values(".env[?(@.name==\"B.c\")].value", pod), ElementsAre("2"));
}

TEST(FieldPath, HasNoValuesIfAPartIsAbsent) {
  const Json pod = {{"env", Json::array({1})}, {"text", "a"}};
  EXPECT_THAT(values(".spec.nodeName", pod), IsEmpty());
  EXPECT_THAT(values(".env[1]", pod), IsEmpty());
  EXPECT_THAT(values(".env[0].name", pod), IsEmpty());
  EXPECT_THAT(values(".env[?(@.name==\"A\")]", pod), IsEmpty());
  EXPECT_THAT(values(".text[0]", pod), IsEmpty());
}

TEST(FieldPath, ErrorsNameThePath) {
  for (const char* path : {"", "spec", ".spec.", ".a[", ".a[x]", ".a[?(@.name=b)]", ".a[-1]"}) {
    const auto parsed = FieldPath::parse(path);
    ASSERT_FALSE(parsed.ok()) << path;
    EXPECT_THAT(parsed.error().message(), HasSubstr("path"));
  }
}

}  // namespace
}  // namespace tpuslice::e2e
