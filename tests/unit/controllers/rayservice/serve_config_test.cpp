#include "controllers/rayservice/serve_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/ray/dashboard.h"
#include "tests/support/error_matchers.h"
#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ServeConfig, IsTheJsonOfTheYaml) {
  const ServeConfig config = parse_serve_config(a_serve_config("a")).value();
  EXPECT_EQ(config.json["applications"][0]["import_path"], "serve:app");
  EXPECT_THAT(config.applications, ElementsAre("a"));
  EXPECT_EQ(config.hash.size(), 10U);
}

TEST(ServeConfig, HasTheSameHashHoweverItIsWritten) {
  EXPECT_EQ(parse_serve_config("applications: [{name: a}]").value().hash,
            parse_serve_config("applications:\n- name: \"a\"  # The model.\n").value().hash);
  EXPECT_NE(parse_serve_config("applications: [{name: a}]").value().hash,
            parse_serve_config("applications: [{name: b}]").value().hash);
}

TEST(ServeConfig, WithoutTextHasNoApplications) {
  const ServeConfig config = parse_serve_config("").value();
  EXPECT_EQ(config.json, Json::parse(R"({"applications": []})"));
  EXPECT_THAT(config.applications, IsEmpty());
}

TEST(ServeConfig, HasRaysNameOfAnApplicationWithoutOne) {
  EXPECT_THAT(parse_serve_config("applications: [{import_path: 'serve:app'}]").value().applications,
              ElementsAre("default"));
}

TEST(ServeConfig, GivesItsLoggingToApplicationsWithoutTheirOwn) {
  const ServeConfig config =
      parse_serve_config(
          "{logging_config: {log_level: DEBUG}, applications: [{name: a}, {name: b, logging_config: {}}]}")
          .value();
  EXPECT_EQ(config.application_hashes.at("a"),
            ray::application_hash({{"name", "a"}, {"logging_config", {{"log_level", "DEBUG"}}}}));
  EXPECT_EQ(config.application_hashes.at("b"),
            ray::application_hash({{"name", "b"}, {"logging_config", Json::object()}}));
}

TEST(ServeConfig, IsRefusedUnlessItIsAMapping) {
  EXPECT_THAT(parse_serve_config("- a").error().message(), HasSubstr("spec.serveConfigV2: found array"));
  EXPECT_THAT(parse_serve_config("a: [").error().message(), HasSubstr("spec.serveConfigV2"));
}

TEST(ServeConfig, AliasesDoNotMultiplyIt) {
  std::string yaml = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 8; ++i)
    yaml += fmt::format("a{0}: &a{0} [*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1}]\n", i, i - 1);
  EXPECT_THAT(parse_serve_config(yaml), IsError(ErrorCode::kInvalidArgument));
}

TEST(ServeRecord, IsReadAsItIsWritten) {
  for (const char* text : {"k8x2.1", "k8x2.12.sent", "k8x2.1.f7b2", "k8x2.1.sent.f7b2"}) {
    EXPECT_EQ(ServeRecord::parse(text).to_string(), text);
  }
  EXPECT_EQ(ServeRecord::parse("k8x2.1.sent.f7b2").reported, "f7b2");
  EXPECT_EQ(ServeRecord::parse("k8x2.1.sent").reported, "");
  EXPECT_TRUE(ServeRecord::parse("k8x2.1").accepted);
  EXPECT_FALSE(ServeRecord::parse("k8x2.1.sent").accepted);
}

TEST(ServeRecord, CountsAsNothingInAnyOtherForm) {
  for (const char* text :
       {"", "k8x2", "k8x2.", "k8x2.x", "k8x2.-1", ".1", "k8x2.1.lost", "k8x2.1.sent.", "k8x2.1.f7.f7", "a.b.c.d"}) {
    EXPECT_EQ(ServeRecord::parse(text).hash, "") << text;
  }
}

}  // namespace
}  // namespace tpuslice::rayservice
