// input.yaml -> plan.yaml, for each folder of tests/golden/rayjob.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>

#include "api/base/check.h"
#include "api/base/file.h"
#include "api/types/yaml.h"
#include "tests/golden/cases.h"
#include "tests/support/rayjob/world.h"

namespace tpuslice::rayjob {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = "tests/golden/rayjob";

using Step = std::function<void(World& world, const Json& value)>;

FakeRay::Fault fault(const std::string& name) {
  const std::map<std::string, FakeRay::Fault> faults{{"none", FakeRay::Fault::kNone},
                                                     {"slow", FakeRay::Fault::kSlow},
                                                     {"failing", FakeRay::Fault::kFailing},
                                                     {"refusing", FakeRay::Fault::kRefusing}};
  TPUSLICE_CHECK_MSG(faults.contains(name), name);
  return faults.at(name);
}

const std::map<std::string, Step>& all_steps() {
  static const std::map<std::string, Step> kSteps{
      // Of the operator.
      {"run", [](World& world, const Json&) { world.settle(); }},      // Plans and answers until nothing changes.
      {"plan", [](World& world, const Json&) { world.step(); }},       // One plan, carried out.
      {"answer", [](World& world, const Json&) { world.advance(); }},  // The dashboard answers what was asked.
      {"failure", [](World& world,
                     const Json& value) { world.fail(string_at(value, {"reason"}), string_at(value, {"message"})); }},
      // Of others.
      {"start cluster", [](World& world, const Json& workers) { world.start_cluster(workers.get<int>()); }},
      {"available workers", [](World& world, const Json& number) { world.set_workers(number.get<int>()); }},
      {"cluster condition",
       [](World& world, const Json& value) {
         world.set_cluster_condition(string_at(value, {"type"}), string_at(value, {"status"}),
                                     string_at(value, {"message"}));
       }},
      {"other cluster", [](World& world, const Json& name) { world.add_foreign_cluster(name.get<std::string>()); }},
      {"other job", [](World& world, const Json&) { world.add_foreign_submitter(); }},
      {"delete cluster", [](World& world, const Json&) { world.delete_cluster(); }},
      {"lose head", [](World& world, const Json&) { world.lose_head(); }},
      {"delete pods", [](World& world, const Json&) { world.delete_pods(); }},
      {"ray job",
       [](World& world, const Json& value) {
         world.ray.set_job(value.value("id", world.job_id()), string_at(value, {"status"}),
                           string_at(value, {"message"}));
       }},
      {"forget ray job", [](World& world, const Json&) { world.ray.forget_job(world.job_id()); }},
      {"dashboard", [](World& world, const Json& name) { world.ray.set_fault(fault(name.get<std::string>())); }},
      {"submitter", [](World& world, const Json& condition) { world.end_submitter(condition.get<std::string>()); }},
      {"patch spec", [](World& world, const Json& patch) { world.patch_spec(patch); }},
      {"delete", [](World& world, const Json&) { world.delete_job(); }},
      {"seconds", [](World& world, const Json& time) { world.pass(std::chrono::seconds(time.get<int>())); }},
  };
  return kSteps;
}

// job: the RayJob. steps: what happens before the plan, each a name of all_steps(), with or without a value.
World world_of(const Json& input) {
  World world(input["job"]);
  for (const Json& step : array_at(input, {"steps"})) {
    const std::string name = step.is_string() ? step.get<std::string>() : step.begin().key();
    TPUSLICE_CHECK_MSG(all_steps().contains(name), name);
    all_steps().at(name)(world, step.is_string() ? Json() : *step.begin());
  }
  return world;
}

class RayJobGolden : public testing::TestWithParam<std::string> {};

TEST_P(RayJobGolden, PlansAsWritten) {
  const fs::path folder = kFolder / GetParam();
  const Result<Json> input = parse_yaml(read_file(folder / "input.yaml").value());
  ASSERT_TRUE(input.ok()) << input.error().message();
  golden::expect_as_written({to_json(world_of(*input).plan())}, folder / "plan.yaml");
}

INSTANTIATE_TEST_SUITE_P(Cases, RayJobGolden, testing::ValuesIn(golden::cases(kFolder)), golden::name_of);

}  // namespace
}  // namespace tpuslice::rayjob
