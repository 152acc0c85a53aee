#include "api/http/url.h"

#include "api/http/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::http {
namespace {

TEST(Target, SplitsAtTheFirstQuestionMark) {
  EXPECT_EQ(split_target("/a/b?c=d?e").path, "/a/b");
  EXPECT_EQ(split_target("/a/b?c=d?e").query, "c=d?e");
  EXPECT_EQ(split_target("/a/b").query, "");
}

TEST(Query, ReadsNamesAndValues) {
  const QueryParams params = parse_query("/pods?labelSelector=a%3Db&watch=1&empty=&flag&labelSelector=c");
  EXPECT_EQ(params.get("labelSelector"), "a=b");
  EXPECT_TRUE(params.flag("watch"));
  EXPECT_NE(params.find("empty"), nullptr);
  EXPECT_NE(params.find("flag"), nullptr);
  EXPECT_EQ(params.find("none"), nullptr);
  EXPECT_EQ(params.all().size(), 5U);
}

TEST(Query, AcceptsMalformedQueries) {
  EXPECT_TRUE(parse_query("/pods").empty());
  EXPECT_TRUE(parse_query("/pods?").empty());
  EXPECT_TRUE(parse_query("/pods?&&&").empty());
  EXPECT_EQ(parse_query("/pods?a=%zz").get("a"), "%zz");
}

TEST(Query, PrintsWhatItReads) {
  QueryParams params;
  params.add("fieldSelector", "a=b,c!=d");
  params.add("limit", "500");
  EXPECT_EQ(params.encode(), "fieldSelector=a%3Db%2Cc%21%3Dd&limit=500");
  EXPECT_EQ(parse_query("/x?" + params.encode()).all(), params.all());
}

TEST(BaseUrl, ReadsEveryPart) {
  const BaseUrl url = parse_base_url("https://me:p%40ss@example.com:6443/k8s/clusters/c-1/").value();
  EXPECT_EQ(url.scheme, "https");
  EXPECT_EQ(url.user, "me");
  EXPECT_EQ(url.password, "p@ss");
  EXPECT_EQ(url.host, "example.com");
  EXPECT_EQ(url.port, 6443);
  EXPECT_EQ(url.path, "/k8s/clusters/c-1");
  EXPECT_EQ(url.origin(), "https://example.com:6443");
}

TEST(BaseUrl, HasDefaultPorts) {
  EXPECT_EQ(parse_base_url("https://a").value().port, 443);
  EXPECT_EQ(parse_base_url("http://a/").value().port, 80);
}

TEST(BaseUrl, PutsIpv6IntoBrackets) {
  const BaseUrl url = parse_base_url("https://[::1]:8443").value();
  EXPECT_EQ(url.host, "::1");
  EXPECT_EQ(url.origin(), "https://[::1]:8443");
}

TEST(BaseUrl, RefusesInvalidUrls) {
  for (const char* text :
       {"", "example.com", "ftp://a", "https://", "https://a:0", "https://a:99999", "https://a:x", "https://a b",
        "https://[::1", "https://[a]", "https://[::1]x", "https://a?b", "https://a#b", "https://a@b:c@d:"}) {
    EXPECT_THAT(parse_base_url(text), IsError(ErrorCode::kInvalidArgument)) << text;
  }
}

TEST(BaseUrl, ErrorsDoNotContainPasswords) {
  const auto refused = parse_base_url("https://me:secret@bad host");
  ASSERT_THAT(refused, IsError(ErrorCode::kInvalidArgument));
  EXPECT_EQ(refused.error().message().find("secret"), std::string::npos);
}

TEST(Headers, AreFoundIgnoringCase) {
  const Headers headers = {{"Content-Type", "a"}, {"Content-Typ", "b"}};
  ASSERT_NE(find_header(headers, "content-type"), nullptr);
  EXPECT_EQ(*find_header(headers, "content-type"), "a");
  EXPECT_EQ(find_header(headers, "content"), nullptr);
}

}  // namespace
}  // namespace tpuslice::http
