#include "api/types/validation_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::string k63(63, 'a');
const std::string k64(64, 'a');

TEST(Dns1123Label, AllowsLowerCaseDigitsAndInnerDashes) {
  for (const std::string& valid : {std::string("a"), std::string("0-a"), k63})
    EXPECT_THAT(check_dns1123_label(valid), IsEmpty());
  for (const char* invalid : {"", "-a", "a-", "A", "a.b", "a_b", "a\n", "\xc3\xa9"}) {
    EXPECT_THAT(check_dns1123_label(invalid), ElementsAre(StartsWith("a lowercase RFC 1123 label must consist of")))
        << invalid;
  }
  EXPECT_THAT(check_dns1123_label(k64), ElementsAre("must be no more than 63 bytes"));
}

TEST(Dns1123Subdomain, AllowsLabelsWithDots) {
  for (const char* valid : {"a", "a.b-c.0", "example.com"}) EXPECT_THAT(check_dns1123_subdomain(valid), IsEmpty());
  for (const char* invalid : {"", ".", "a.", ".a", "a..b", "a.-b", "A.b"}) {
    EXPECT_THAT(check_dns1123_subdomain(invalid), ElementsAre(StartsWith("a lowercase RFC 1123 subdomain must")))
        << invalid;
  }
  EXPECT_THAT(check_dns1123_subdomain(std::string(254, 'a')), ElementsAre("must be no more than 253 bytes"));
}

TEST(Dns1035Label, StartsWithALetter) {
  EXPECT_THAT(check_dns1035_label("a-1"), IsEmpty());
  for (const char* invalid : {"", "1a", "a-", "-"}) {
    EXPECT_THAT(check_dns1035_label(invalid), ElementsAre(StartsWith("a DNS-1035 label must consist"))) << invalid;
  }
}

TEST(LabelKey, IsAnOptionalPrefixAndAName) {
  for (const char* valid : {"a", "A_b.c-d", "example.com/MyName", "ray.io/cluster"})
    EXPECT_THAT(check_label_key(valid), IsEmpty()) << valid;
  EXPECT_THAT(check_label_key(""), ElementsAre("name part must be non-empty", StartsWith("name part must consist of")));
  EXPECT_THAT(check_label_key("/a"), ElementsAre("prefix part must be non-empty"));
  EXPECT_THAT(check_label_key("A.b/c"), ElementsAre(StartsWith("prefix part a lowercase RFC 1123 subdomain")));
  EXPECT_THAT(check_label_key("a/b/c"), ElementsAre(StartsWith("a qualified name must consist of")));
  EXPECT_THAT(check_label_key("a/" + k64), ElementsAre("name part must be no more than 63 bytes"));
}

TEST(LabelValue, MayBeEmpty) {
  for (const char* valid : {"", "a", "MyValue", "1.2_3-4"}) EXPECT_THAT(check_label_value(valid), IsEmpty());
  for (const char* invalid : {"-", "a b", "a/b", "_a"})
    EXPECT_THAT(check_label_value(invalid), Not(IsEmpty())) << invalid;
}

TEST(FirstError, HasTheFormatOfTheApiServer) {
  EXPECT_TRUE(first_error("metadata.name", "a", {}).ok());
  EXPECT_EQ(first_error("metadata.name", "a_b", {"must not", "never"}).error().message(),
            "metadata.name: Invalid value: \"a_b\": must not");
}

TEST(FirstError, ShortensTheValue) {
  const std::string message =
      first_error("spec.subdomain", std::string(100'000, 'a'), check_dns1123_label(std::string(100'000, 'a')))
          .error()
          .message();
  EXPECT_LT(message.size(), 256U);
  EXPECT_TRUE(message.ends_with("a...\": must be no more than 63 bytes")) << message;
}

}  // namespace
}  // namespace tpuslice
