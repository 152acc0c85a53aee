// input.yaml -> plan.yaml, for each folder of tests/golden/raycronjob.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>

#include "api/base/check.h"
#include "api/base/file.h"
#include "api/types/patch.h"
#include "api/types/yaml.h"
#include "tests/golden/cases.h"
#include "tests/support/raycronjob/world.h"

namespace tpuslice::raycronjob {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = "tests/golden/raycronjob";

using Step = std::function<void(RayCronJobWorld& world, const Json& value)>;

const std::map<std::string, Step>& all_steps() {
  static const std::map<std::string, Step> kSteps{
      {"plan", [](RayCronJobWorld& world, const Json&) { world.step(); }},
      // The first writes of a plan.
      {"writes",
       [](RayCronJobWorld& world, const Json& value) { world.carry_out(world.plan(), value.get<std::size_t>()); }},
      {"failure",
       [](RayCronJobWorld& world, const Json& value) {
         world.fail(string_at(value, {"reason"}), string_at(value, {"message"}), world.now());
       }},
      {"at", [](RayCronJobWorld& world,
                const Json& value) { world.set_now(parse_rfc3339(value.get<std::string>()).value()); }},
      {"patch",
       [](RayCronJobWorld& world, const Json& value) {
         for (const auto& [field, change] : value.items()) {
           world.set_spec(field, apply_merge_patch(world.object().json()["spec"].value(field, Json()), change));
         }
       }},
      {"other job", [](RayCronJobWorld& world, const Json& value) { world.add_foreign_job(value.get<std::string>()); }},
  };
  return kSteps;
}

// cronJob: the RayCronJob. steps: what happens before the plan, each a name of all_steps(), with or without a value.
RayCronJobWorld world_of(const Json& input) {
  RayCronJobWorld world = RayCronJobWorld::of(input["cronJob"]);
  for (const Json& step : array_at(input, {"steps"})) {
    const std::string name = step.is_string() ? step.get<std::string>() : step.begin().key();
    TPUSLICE_CHECK_MSG(all_steps().contains(name), name);
    all_steps().at(name)(world, step.is_string() ? Json() : *step.begin());
  }
  return world;
}

class RayCronJobGolden : public testing::TestWithParam<std::string> {};

TEST_P(RayCronJobGolden, PlansAsWritten) {
  const fs::path folder = kFolder / GetParam();
  const Result<Json> input = parse_yaml(read_file(folder / "input.yaml").value());
  ASSERT_TRUE(input.ok()) << input.error().message();
  golden::expect_as_written({to_json(world_of(*input).plan())}, folder / "plan.yaml");
}

INSTANTIATE_TEST_SUITE_P(Cases, RayCronJobGolden, testing::ValuesIn(golden::cases(kFolder)), golden::name_of);

}  // namespace
}  // namespace tpuslice::raycronjob
