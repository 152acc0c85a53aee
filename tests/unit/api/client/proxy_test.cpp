#include "api/client/proxy.h"

#include <map>

#include <gtest/gtest.h>

namespace tpuslice::client {
namespace {

std::string proxy_of(const std::string& server, std::map<std::string, std::string> environment) {
  return proxy_from_environment(
      server, {[environment = std::move(environment)](const std::string& name) -> std::optional<std::string> {
                 const auto found = environment.find(name);
                 return found == environment.end() ? std::nullopt : std::optional<std::string>(found->second);
               },
               [](const std::string& path) -> Result<std::string> { return Error::not_found("{}", path); }});
}

/// Whether requests to `server` go directly, with this NO_PROXY.
bool is_excluded(const std::string& server, const std::string& no_proxy) {
  return proxy_of(server, {{"HTTPS_PROXY", "http://proxy:3128"}, {"NO_PROXY", no_proxy}}).empty();
}

TEST(ProxyFromEnvironment, DependsOnTheScheme) {
  const std::map<std::string, std::string> environment = {{"HTTPS_PROXY", "http://secure:1"},
                                                          {"http_proxy", "plain:2"}};
  EXPECT_EQ(proxy_of("https://api.example.com", environment), "http://secure:1");
  EXPECT_EQ(proxy_of("http://api.example.com", environment), "http://plain:2");
  EXPECT_EQ(proxy_of("https://api.example.com", {}), "");
  EXPECT_EQ(proxy_of("https://api.example.com", {{"https_proxy", "https://p"}}), "https://p");
}

TEST(ProxyFromEnvironment, IsNotUsedForLoopback) {
  for (const char* server : {"https://localhost:6443", "https://127.0.0.1:6443", "https://[::1]:6443"}) {
    EXPECT_EQ(proxy_of(server, {{"HTTPS_PROXY", "http://proxy:3128"}}), "") << server;
  }
}

TEST(NoProxy, ExcludesHosts) {
  EXPECT_TRUE(is_excluded("https://api.example.com", "other.org, example.com"));
  EXPECT_TRUE(is_excluded("https://API.example.com", "Example.com"));
  EXPECT_TRUE(is_excluded("https://example.com", "example.com"));
  EXPECT_FALSE(is_excluded("https://badexample.com", "example.com"));
  EXPECT_FALSE(is_excluded("https://example.com", ".example.com"));
  EXPECT_TRUE(is_excluded("https://api.example.com", "*.example.com"));
  EXPECT_TRUE(is_excluded("https://kubernetes.default.svc", "*"));
  EXPECT_FALSE(is_excluded("https://example.com", ""));
  EXPECT_FALSE(is_excluded("https://example.com", " ,,"));
}

TEST(NoProxy, ExcludesAddressesAndNetworks) {
  EXPECT_TRUE(is_excluded("https://10.96.0.1:443", "10.0.0.0/8"));
  EXPECT_FALSE(is_excluded("https://11.96.0.1:443", "10.0.0.0/8"));
  EXPECT_TRUE(is_excluded("https://10.96.0.1:443", "10.96.0.1"));
  EXPECT_TRUE(is_excluded("https://[fd00::1]:443", "fd00::/8"));
  EXPECT_FALSE(is_excluded("https://[fe00::1]:443", "fd00::/8"));
  EXPECT_TRUE(is_excluded("https://10.96.0.1:443", "0.0.0.0/0"));
  EXPECT_FALSE(is_excluded("https://[fd00::1]:443", "0.0.0.0/0"));
  for (const char* malformed : {"10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "/8", "x/8", "fd00::/129"}) {
    EXPECT_FALSE(is_excluded("https://10.96.0.1:443", malformed)) << malformed;
  }
}

TEST(NoProxy, ExcludesOnlyTheGivenPort) {
  EXPECT_TRUE(is_excluded("https://api.example.com:6443", "example.com:6443"));
  EXPECT_FALSE(is_excluded("https://api.example.com", "example.com:6443"));
  EXPECT_TRUE(is_excluded("https://[fd00::1]:443", "[fd00::1]:443"));
}

}  // namespace
}  // namespace tpuslice::client
