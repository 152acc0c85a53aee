#include "cmd/kubectl-tpu/ui/page_guard.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::plugin {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::uint16_t kGuardedPort = 4321;

int refusal(const http::Headers& headers, bool data = true) {
  const auto response = refuse_foreign({.target = "/", .headers = headers}, kGuardedPort, data);
  return response ? response->status : 0;
}

TEST(PageGuard, SecretsAreLongAndDiffer) {
  std::set<std::string> all;
  for (int i = 0; i < 10; ++i) {
    const PageSecrets secrets = make_page_secrets().value();
    for (const std::string& secret : {secrets.path, secrets.token, secrets.cookie}) {
      EXPECT_THAT(secret, SizeIs(43)) << "256 bits";
      EXPECT_EQ(secret.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
                std::string::npos);
      all.insert(secret);
    }
  }
  EXPECT_THAT(all, SizeIs(30));
}

TEST(PageGuard, TheTokenIsInTheFragmentOfTheAddress) {
  EXPECT_EQ(page_url(kGuardedPort, {"path", "secret", "cookie"}), "http://127.0.0.1:4321/path/#token=secret");
}

TEST(PageGuard, RefusesHostsThatAreNotThisServer) {
  EXPECT_EQ(refusal({{"Host", "127.0.0.1:4321"}}), 0);
  EXPECT_EQ(refusal({{"Host", "localhost:4321"}}), 0);
  for (const char* host :
       {"example.com:4321", "127.0.0.1", "127.0.0.1:4322", "127.0.0.1.nip.io:4321", "[::1]:4321", ""}) {
    EXPECT_EQ(refusal({{"Host", host}}), 421) << host;
  }
  EXPECT_EQ(refusal({}), 421);
}

TEST(PageGuard, RefusesOtherOrigins) {
  EXPECT_EQ(refusal({{"Host", "127.0.0.1:4321"}, {"Origin", "http://127.0.0.1:4321"}}), 0);
  for (const char* origin :
       {"http://127.0.0.1:4322", "https://127.0.0.1:4321", "http://localhost:4321", "http://example.com", "null"}) {
    EXPECT_EQ(refusal({{"Host", "127.0.0.1:4321"}, {"Origin", origin}}), 403) << origin;
  }
}

TEST(PageGuard, RefusesDataToOtherSites) {
  const auto from = [](const char* site, bool data) {
    return refusal({{"Host", "127.0.0.1:4321"}, {"Sec-Fetch-Site", site}}, data);
  };
  EXPECT_EQ(from("same-origin", true), 0);
  EXPECT_EQ(from("none", true), 0);
  EXPECT_EQ(from("same-site", true), 403) << "another port of this machine";
  EXPECT_EQ(from("cross-site", true), 403);
  EXPECT_EQ(from("cross-site", false), 0) << "a link to the page in a chat or terminal";
}

TEST(PageGuard, ASessionHasTheWholeCookie) {
  const PageSecrets secrets = {"path", "token", "value"};
  const auto has = [&](const char* cookies) {
    return has_session({.target = "/", .headers = {{"Cookie", cookies}}}, secrets);
  };
  EXPECT_TRUE(has("tpu-fleet=value"));
  EXPECT_TRUE(has("other=1; tpu-fleet=value; more=2"));
  for (const char* cookies :
       {"", "tpu-fleet=", "tpu-fleet=valu", "tpu-fleet=valuee", "tpu-fleet=token", "value", "x-tpu-fleet=value"}) {
    EXPECT_FALSE(has(cookies)) << cookies;
  }
  EXPECT_FALSE(has_session({.target = "/"}, secrets));
}

TEST(PageGuard, ScriptsDoNotSeeTheCookieAndOtherSitesDoNotSendIt) {
  const std::string cookie = session_cookie({"path", "token", "value"});
  EXPECT_EQ(cookie, "tpu-fleet=value; Path=/path/; HttpOnly; SameSite=Strict");
}

TEST(PageGuard, ThePolicyAllowsNothingButThePage) {
  http::Response response;
  add_page_headers(response);
  const std::string* const policy = http::find_header(response.headers, "Content-Security-Policy");
  ASSERT_NE(policy, nullptr);
  EXPECT_THAT(*policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(*policy, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(*policy, HasSubstr("require-trusted-types-for 'script'"));
  EXPECT_THAT(*policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(*policy, Not(HasSubstr("http")));
  EXPECT_EQ(*http::find_header(response.headers, "Cache-Control"), "no-store");
  EXPECT_EQ(http::find_header(response.headers, "Access-Control-Allow-Origin"), nullptr);
}

TEST(PageGuard, ComparesWholeSecrets) {
  EXPECT_TRUE(equal_secrets("", ""));
  EXPECT_TRUE(equal_secrets("abc", "abc"));
  EXPECT_FALSE(equal_secrets("abc", "abd"));
  EXPECT_FALSE(equal_secrets("abc", "xbc"));
  EXPECT_FALSE(equal_secrets("abc", "abcd"));
}

}  // namespace
}  // namespace tpuslice::plugin
