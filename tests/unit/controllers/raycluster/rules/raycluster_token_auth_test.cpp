#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/rules/validator.h"
#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::tpu_cluster;
using testing::with;

std::vector<std::string> token_paths(const Json& cluster) {
  std::vector<std::string> paths;
  for (const FieldError& error : validate_raycluster(cluster, nullptr)) paths.push_back(error.path);
  return paths;
}

Json token_cluster(Json options, const char* version = "2.55.0") {
  Json cluster = with(tpu_cluster(), "/spec/authOptions", std::move(options));
  if (*version != '\0') cluster["spec"]["rayVersion"] = version;
  return cluster;
}

// Source: KubeRay's validation.
TEST(ValidateTokenAuth, NeedsAVersionOfRayThatHasIt) {
  struct Version {
    const char* version;
    bool tokens;
    bool service_accounts;
  };
  for (const Version& v :
       {Version{"2.52.0", true, false}, Version{"2.51.9", false, false}, Version{"2.55.0", true, true},
        Version{"v2.60", true, true}, Version{"3.0.0-py312", true, true}, Version{"", false, false},
        Version{"nightly", false, false}}) {
    SCOPED_TRACE(v.version);
    const auto refused = [](bool accepted) {
      return accepted ? std::vector<std::string>() : std::vector<std::string>{"spec.rayVersion"};
    };
    EXPECT_EQ(token_paths(token_cluster({{"mode", "token"}}, v.version)), refused(v.tokens));
    EXPECT_EQ(token_paths(token_cluster({{"mode", "token"}, {"enableK8sTokenAuth", true}}, v.version)),
              refused(v.service_accounts));
    EXPECT_THAT(token_paths(token_cluster({{"mode", "disabled"}}, v.version)), IsEmpty());
    EXPECT_THAT(token_paths(token_cluster(Json::object(), v.version)), IsEmpty());
  }
  EXPECT_EQ(to_message(validate_raycluster(token_cluster({{"mode", "token"}}, "2.51.0"), nullptr)),
            R"(spec.rayVersion: Invalid value: "2.51.0": spec.authOptions.mode token needs Ray 2.52.0 or later)");
}

TEST(ValidateTokenAuth, RefusesCombinationsWithServiceAccounts) {
  EXPECT_THAT(token_paths(token_cluster({{"enableK8sTokenAuth", true}})),
              ElementsAre("spec.authOptions.enableK8sTokenAuth"));
  EXPECT_THAT(token_paths(token_cluster({{"mode", "token"}, {"enableK8sTokenAuth", true}, {"secretName", "s"}})),
              ElementsAre("spec.authOptions.secretName"));
  EXPECT_THAT(token_paths(token_cluster({{"mode", "token"}, {"enableK8sTokenAuth", true}, {"secretName", ""}})),
              IsEmpty());
  EXPECT_THAT(token_paths(token_cluster({{"mode", "mtls"}})), ElementsAre("spec.authOptions.mode"));
}

TEST(ValidateTokenAuth, WarnsOfOptionsThatProtectNothing) {
  EXPECT_THAT(warn_raycluster(token_cluster({{"secretName", "s"}})),
              ElementsAre(HasSubstr("spec.authOptions.mode: is not set")));
  EXPECT_THAT(warn_raycluster(token_cluster({{"mode", "disabled"}})), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::rules
