// input.yaml -> plan.yaml, for each folder of tests/golden/rayservice.
#include <gtest/gtest.h>

#include <filesystem>

#include "api/base/file.h"
#include "api/types/patch.h"
#include "api/types/yaml.h"
#include "controllers/rayservice/rayservice_plan.h"
#include "tests/golden/cases.h"
#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = "tests/golden/rayservice";
constexpr int kMaxRounds = 60;

void round(World& world) {
  world.step();
  world.advance();
}

/// Until a plan has this reason.
void run_until(World& world, const std::string& reason) {
  int rounds = 0;
  while (world.plan().reason.find(reason) == std::string::npos) {
    TPUSLICE_CHECK_MSG(++rounds < kMaxRounds, "no plan has the reason: " + reason);
    round(world);
  }
}

// Plans are carried out, and pods run, until the service is idle or a plan has the reason `until`; then the service is
// edited, and the same again; then it is edited with `editAgain`, and the same until `untilThen`. Dashboards answer
// with `status` from the edit on; slices of new clusters wait.
World world_of(const Json& input) {
  World world(input["service"]);
  world.serves_gateways = input.value("servesGateways", true);
  world.service()["metadata"]["uid"] = "uid-llm";
  if (input.contains("edit")) {
    world.settle();
    world.service() = apply_merge_patch(world.service(), input["edit"]);
    world.places_slices = input.value("placesSlices", true);
    for (const auto& [name, cluster] : world.clusters()) world.ray(name).answer_status = input.value("status", 200);
  }
  if (input.contains("until")) run_until(world, string_at(input, {"until"}));
  if (input.contains("editAgain")) {
    world.service() = apply_merge_patch(world.service(), input["editAgain"]);
    run_until(world, string_at(input, {"untilThen"}));
  }
  return world;
}

class RayServiceGolden : public testing::TestWithParam<std::string> {};

TEST_P(RayServiceGolden, PlansAsWritten) {
  const fs::path folder = kFolder / GetParam();
  const Result<Json> input = parse_yaml(read_file(folder / "input.yaml").value());
  ASSERT_TRUE(input.ok()) << input.error().message();
  golden::expect_as_written({to_json(world_of(*input).plan())}, folder / "plan.yaml");
}

INSTANTIATE_TEST_SUITE_P(Cases, RayServiceGolden, testing::ValuesIn(golden::cases(kFolder)), golden::name_of);

}  // namespace
}  // namespace tpuslice::rayservice
