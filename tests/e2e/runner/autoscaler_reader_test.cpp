#include "tests/e2e/runner/autoscaler_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::e2e {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// The lines of `autoscaler` begin at line 4, its steps follow.
Result<Scenario> with_autoscaler(const std::string& autoscaler, const std::string& step = "operator: kill") {
  return parse_scenario("dir/x.yaml",
                        "name: x\ndescription: d\nautoscaler:\n" + autoscaler + "steps:\n  - {" + step + "}\n");
}

std::string error_with(const std::string& autoscaler, const std::string& step = "operator: kill") {
  const auto scenario = with_autoscaler(autoscaler, step);
  return scenario ? "no error" : scenario.error().message();
}

constexpr const char* kGroups = "  groups: [{name: extra-a, accelerator: tpu-v6e-slice, topology: 4x4}]\n";

TEST(AutoscalerReader, ReadsAllKeys) {
  const auto scenario = with_autoscaler(std::string(kGroups) +
                                            "  provision time: 2s\n"
                                            "  unneeded time: 5s\n"
                                            "  backoff: 10s\n"
                                            "  without capacity: [extra-a]\n"
                                            "  provisioning requests: true\n",
                                        "capacity of: extra-a, is: available");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message();
  ASSERT_TRUE(scenario->autoscaler);
  const testing::AutoscalerOptions& options = *scenario->autoscaler;
  EXPECT_EQ(options.provision_time, 2s);
  EXPECT_EQ(options.unneeded_time, Duration(5s));
  EXPECT_EQ(options.backoff, 10s);
  EXPECT_TRUE(options.provisioning_requests);
  ASSERT_THAT(options.groups, SizeIs(1));
  EXPECT_EQ(options.groups[0].pool.hosts, 4);
  EXPECT_FALSE(options.groups[0].capacity);
  EXPECT_TRUE(std::get<SetCapacity>(scenario->steps[0].action).available);
  EXPECT_EQ(scenario->steps[0].title, "capacity of extra-a");
}

TEST(AutoscalerReader, NeverScalesDownByDefault) {
  const auto scenario = with_autoscaler(kGroups, "autoscaler: stop");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message();
  EXPECT_FALSE(scenario->autoscaler->unneeded_time);
  EXPECT_FALSE(std::get<ControlAutoscaler>(scenario->steps[0].action).run);
}

TEST(AutoscalerReader, ErrorsHaveTheirLine) {
  EXPECT_THAT(error_with("  group: []\n"), HasSubstr("dir/x.yaml:4: unknown key \"group\""));
  EXPECT_THAT(error_with("  backoff: 1s\n"), HasSubstr("dir/x.yaml:3: \"groups\" is missing"));
  EXPECT_THAT(error_with("  groups: [{name: a, chips: 4}]\n"), HasSubstr("dir/x.yaml:4: groups: pools[0].chips"));
  EXPECT_THAT(error_with("  groups: [{name: cpu, hosts: 2}]\n"),
              HasSubstr("dir/x.yaml:4: group \"cpu\" has the name of a pool"));
  EXPECT_THAT(error_with(std::string(kGroups) + "  without capacity: [b]\n"),
              HasSubstr("dir/x.yaml:5: no group is named \"b\""));
  EXPECT_THAT(error_with(std::string(kGroups) + "  provision time: 2\n"), HasSubstr("dir/x.yaml:5: found 2"));
}

TEST(AutoscalerReader, StepsNeedAnAutoscalerAndItsGroup) {
  EXPECT_THAT(error_with(kGroups, "capacity of: b, is: exhausted"), HasSubstr("dir/x.yaml:6: no group is named \"b\""));
  EXPECT_THAT(error_with(kGroups, "capacity of: extra-a, is: low"),
              HasSubstr("found \"low\", expected one of exhausted"));
  EXPECT_THAT(error_with(kGroups, "autoscaler: pause"), HasSubstr("found \"pause\", expected one of stop"));
  const auto none = parse_scenario("dir/x.yaml", "name: x\ndescription: d\nsteps:\n  - {autoscaler: stop}\n");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message(), HasSubstr("dir/x.yaml:4: the scenario has no autoscaler"));
}

}  // namespace
}  // namespace tpuslice::e2e
