#include "cmd/tpu-slice-operator/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using ::testing::HasSubstr;

HealthCheck passing(const std::string& name) {
  return {name, [] { return Status(); }};
}

HealthCheck failing(const std::string& name, bool required = true) {
  return {name, [name] { return Status(Error::unavailable("{} is broken", name)); }, required};
}

TEST(HealthChecks, AnswerOkWhenAllRequiredChecksPass) {
  const http::Response response =
      answer_health({{"/readyz", {passing("webhook-call"), failing("stores", false)}}}, "/readyz");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "ok");
}

TEST(HealthChecks, ShowEveryCheckWhenOneFails) {
  const http::Response response =
      answer_health({{"/readyz", {passing("shutdown"), failing("webhook-call")}}}, "/readyz");
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body,
            "[+]shutdown ok\n"
            "[-]webhook-call failed: webhook-call is broken\n"
            "readyz check failed\n");
}

TEST(HealthChecks, ShowEveryCheckOnRequest) {
  const std::vector<HealthEndpoint> endpoints = {{"/readyz", {passing("shutdown"), failing("stores", false)}}};
  const http::Response response = answer_health(endpoints, "/readyz?verbose");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            "[+]shutdown ok\n"
            "[-]stores failed: stores is broken (not required)\n"
            "readyz check passed\n");
  EXPECT_EQ(answer_health(endpoints, "/readyz?verbose=1").body, response.body);
  EXPECT_EQ(answer_health(endpoints, "/readyz?other").body, "ok");
}

TEST(HealthChecks, EachHasAPathOfItsOwn) {
  const std::vector<HealthEndpoint> endpoints = {{"/healthz", {passing("lease")}},
                                                 {"/readyz", {passing("shutdown"), failing("stores", false)}}};
  EXPECT_EQ(answer_health(endpoints, "/readyz/shutdown").body, "ok");
  const http::Response stores = answer_health(endpoints, "/readyz/stores");
  EXPECT_EQ(stores.status, 500);
  EXPECT_EQ(stores.body, "stores is broken");
  const http::Response unknown = answer_health(endpoints, "/readyz/other");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(unknown.body, HasSubstr("/healthz, /healthz/lease, /readyz, /readyz/shutdown, /readyz/stores"));
}

}  // namespace
}  // namespace tpuslice
