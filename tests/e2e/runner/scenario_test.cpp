#include "tests/e2e/runner/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kHead = "name: x\ndescription: d\nsteps:\n";

std::string error_of(const std::string& text) {
  const auto scenario = parse_scenario("dir/x.yaml", text);
  return scenario ? "no error" : scenario.error().message();
}

/// The error of a scenario with these steps; the first one is on line 4.
std::string error_of_steps(const std::string& text) { return error_of(kHead + text); }

TEST(Scenario, ReadsAllKeys) {
  const auto scenario = parse_scenario("dir/x.yaml", R"(name: x
description: d
pools:
  - {name: a, accelerator: tpu-v6e-slice, topology: 4x4}
operator flags: [--max-preemptions-per-hour=2]
always:
  - of: pods -l a=b
    differ in: [.metadata.name]
    except with: .spec.schedulingGates
  - {of: pods -l c=d, at most: 12}
steps:
  - apply: deploy/samples/raycluster-maxtext-v6e-4x4.yaml
  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: m}}
    refused: no
  - {patch: raycluster/train, with: {spec: {suspend: true}}}
  - {delete: raycluster train}
  - {fail: pods -l role=worker}
  - {lose nodes of: pods/a}
  - {return nodes: all}
  - {operator: restart}
  - {apiserver: kill}
  - {requests: forbidden}
  - {run: kubectl get pods, prints: a, within: 2m}
  - {remember: before, of: pods, field: .metadata.uid}
  - expect: pods -l role=worker
    count: 4
    fields:
      .status.phase: Running
      .metadata.uid: {none of: before}
      .spec.nodeName: {part: '^(.*)-[0-9]+$', all: equal}
      .status.reason: absent
)");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message();
  EXPECT_THAT(scenario->operator_flags, ElementsAre("--max-preemptions-per-hour=2"));
  ASSERT_THAT(scenario->always, SizeIs(2));
  EXPECT_THAT(scenario->always[0].fields, SizeIs(1));
  EXPECT_TRUE(scenario->always[0].except_with);
  EXPECT_THAT(scenario->always[1].fields, SizeIs(0));
  EXPECT_EQ(scenario->always[1].at_most, 12U);
  ASSERT_THAT(scenario->steps, SizeIs(13));
  EXPECT_THAT(std::get<Apply>(scenario->steps[0].action).objects, SizeIs(2));
  EXPECT_EQ(scenario->steps[1].title, "apply ConfigMap/m is refused");
  EXPECT_EQ(std::get<Delete>(scenario->steps[3].action).target.name, "train");
  EXPECT_EQ(std::get<FailPods>(scenario->steps[4].action).target.selector, "role=worker");
  EXPECT_EQ(scenario->steps[10].within, std::chrono::minutes(2));
  EXPECT_EQ(scenario->steps[12].within, std::chrono::seconds(120));
  EXPECT_EQ(std::get<e2e::Run>(scenario->steps[10].action).command, "kubectl get pods");
  const Expectation& expected = std::get<Expect>(scenario->steps[12].action).expectation;
  EXPECT_EQ(expected.count, 4);
  EXPECT_THAT(expected.fields, SizeIs(4));
  EXPECT_EQ(scenario->steps[12].where, "dir/x.yaml:25");
}

TEST(Scenario, HasStepsForRay) {
  const auto scenario = parse_scenario("dir/x.yaml", R"(
name: x
description: d
steps:
  - {ray job: rayjob/train, is: FAILED, message: out of memory}
  - {serve applications: rayservice/llm, of: pending, are: {app: DEPLOYING}}
  - {serve applications: rayservice/llm, of: active, are: lost}
  - {serve proxies: rayservice/llm, of: pending, on: pods -l role=worker}
  - dashboards: wrong types
  - dashboard request: POST .*/stop
)");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message();
  ASSERT_THAT(scenario->steps, SizeIs(6));
  EXPECT_EQ(std::get<SetRayJob>(scenario->steps[0].action).message, "out of memory");
  EXPECT_EQ(std::get<SetApplications>(scenario->steps[1].action).statuses.at("app"), "DEPLOYING");
  EXPECT_TRUE(std::get<SetApplications>(scenario->steps[1].action).cluster.pending);
  EXPECT_THAT(std::get<SetApplications>(scenario->steps[2].action).statuses, SizeIs(0));
  EXPECT_EQ(std::get<SetProxies>(scenario->steps[3].action).pods.selector, "role=worker");
  EXPECT_EQ(std::get<SetDashboards>(scenario->steps[4].action).fault, sim::DashboardFault::kWrongTypes);
  EXPECT_TRUE(std::regex_search("POST a /api/jobs/b/stop",
                                std::get<ExpectDashboardRequest>(scenario->steps[5].action).pattern));
  EXPECT_THAT(error_of_steps("- {ray job: rayjob/train, is: done}\n"), HasSubstr("found \"done\", expected one of"));
  EXPECT_THAT(error_of_steps("- dashboards: away\n"), HasSubstr("found \"away\", expected one of"));
}

TEST(Scenario, UnknownKeysAreErrorsWithTheirLine) {
  EXPECT_THAT(error_of("name: x\ndescription: d\nstep: []\n"), HasSubstr("dir/x.yaml:3: unknown key \"step\""));
  EXPECT_THAT(error_of_steps("- {apply: a.yaml,\n   within: 3s}\n"), HasSubstr("dir/x.yaml:5: unknown key \"within\""));
  EXPECT_THAT(error_of_steps("- expect: pods\n  fields:\n    .a: {equal: 1}\n"),
              HasSubstr("dir/x.yaml:6: unknown key \"equal\""));
  EXPECT_THAT(error_of_steps("- do: nothing\n"), HasSubstr("dir/x.yaml:4: expected one of apply, patch"));
}

TEST(Scenario, WrongTypesAreErrorsWithTheirLine) {
  EXPECT_THAT(error_of_steps("- expect: pods\n  count: four\n"),
              HasSubstr("dir/x.yaml:5: found \"four\", expected an integer from 0"));
  EXPECT_THAT(error_of_steps("- expect: pods\n  within: 30\n"),
              HasSubstr("dir/x.yaml:5: found 30, expected a duration"));
  EXPECT_THAT(error_of_steps("- expect: 3\n"), HasSubstr("dir/x.yaml:4: found 3, expected a string"));
  EXPECT_THAT(error_of_steps("- run: a\n  prints: '('\n"), HasSubstr("dir/x.yaml:5: ( is not a regular expression"));
  EXPECT_THAT(error_of_steps("- operator: hurt\n"), HasSubstr("dir/x.yaml:4: found \"hurt\", expected one of kill"));
  EXPECT_THAT(error_of_steps("- expect: pods\n  fields: {spec: 1}\n"), HasSubstr("dir/x.yaml:5: path spec"));
  EXPECT_THAT(error_of_steps("- expect: pods -n other\n"), HasSubstr("dir/x.yaml:4: found \"pods -n other\""));
  EXPECT_THAT(error_of("name: x\ndescription: d\noperator flags: [max-scale-ups]\nsteps: []\n"),
              HasSubstr("found \"max-scale-ups\", expected a flag such as --max-scale-ups=3"));
  EXPECT_THAT(error_of("name: x\ndescription: d\nsteps: []\n"), HasSubstr("dir/x.yaml:3: expected at least one step"));
  EXPECT_THAT(error_of("name: x\ndescription: d\npools: [{name: a, chips: 4}]\nsteps: []\n"),
              HasSubstr("dir/x.yaml:3: "));
}

TEST(Scenario, MissingKeysAreErrors) {
  EXPECT_THAT(error_of("name: x\nsteps: []\n"), HasSubstr("\"description\" is missing"));
  EXPECT_THAT(error_of_steps("- patch: pods/a\n"), HasSubstr("dir/x.yaml:4: \"with\" is missing"));
  EXPECT_THAT(error_of_steps("- apply: no/such/file.yaml\n"), HasSubstr("dir/x.yaml:4: no/such/file.yaml"));
  EXPECT_THAT(error_of_steps("- apply: {kind: Pod, metadata: {name: a}}\n"), HasSubstr("dir/x.yaml:4: "));
  EXPECT_THAT(error_of_steps("- expect: pods\n  fields:\n    .a: {none of: before}\n"),
              HasSubstr("dir/x.yaml:6: no earlier step remembers \"before\""));
  EXPECT_THAT(error_of_steps("- expect: pods\n  fields:\n    .a: {part: (a)}\n"),
              HasSubstr("dir/x.yaml:6: expected one of equals"));
  EXPECT_THAT(error_of("name: x\ndescription: d\nalways: [{of: pods}]\nsteps: []\n"),
              HasSubstr("\"differ in\" is missing"));
  EXPECT_THAT(error_of("name: x\ndescription: d\nalways: [{of: pods, at most: 1, differ in: [.a]}]\nsteps: []\n"),
              HasSubstr("expected one of differ in, at most"));
  EXPECT_THAT(error_of("name: y\ndescription: d\nsteps: [{operator: kill}]\n"),
              HasSubstr("must be the name of the file"));
}

}  // namespace
}  // namespace tpuslice::e2e
