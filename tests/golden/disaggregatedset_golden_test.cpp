// input.yaml -> plan.yaml, for each folder of tests/golden/disaggregatedset.
#include <gtest/gtest.h>

#include <filesystem>

#include "api/base/check.h"
#include "api/base/file.h"
#include "api/types/patch.h"
#include "api/types/yaml.h"
#include "tests/golden/cases.h"
#include "tests/support/disaggregatedset/world.h"

namespace tpuslice::disaggregatedset {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = "tests/golden/disaggregatedset";
constexpr int kMaxRounds = 60;

/// Until a plan has this reason.
void run_until(World& world, const std::string& reason) {
  int rounds = 0;
  while (world.plan().reason.find(reason) == std::string::npos) {
    TPUSLICE_CHECK_MSG(++rounds < kMaxRounds, "no plan has the reason: " + reason);
    world.step();
    world.advance();
  }
}

// Plans are carried out, and replicas become ready, until the set is at rest; then the set and its scalers are edited,
// and the same again until a plan has the reason `until`. `others`: objects that exist from the beginning.
World world_of(const Json& input) {
  Json set = input["set"];
  set["metadata"]["uid"] = "uid-llm";
  World world(std::move(set));
  for (const Json& other : array_at(input, {"others"})) {
    world.add(leaderworkerset::kLeaderWorkerSets, other);
  }
  if (input.contains("edit")) {
    world.settle();
    world.set() = apply_merge_patch(world.set(), input["edit"]);
    for (const auto& [role, replicas] : object_at(input, {"scalers"}).items()) {
      world.scale_external(role, replicas.get<int>());
    }
    for (const auto& [role, image] : object_at(input, {"images"}).items()) {
      for (Json& each : world.set()["spec"]["roles"]) {
        if (each["name"] == role) {
          each["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["image"] = image;
        }
      }
    }
  }
  if (input.contains("until")) run_until(world, string_at(input, {"until"}));
  return world;
}

class DisaggregatedSetGolden : public testing::TestWithParam<std::string> {};

TEST_P(DisaggregatedSetGolden, PlansAsWritten) {
  const fs::path folder = kFolder / GetParam();
  const Result<Json> input = parse_yaml(read_file(folder / "input.yaml").value());
  ASSERT_TRUE(input.ok()) << input.error().message();
  golden::expect_as_written({to_json(world_of(*input).plan())}, folder / "plan.yaml");
}

INSTANTIATE_TEST_SUITE_P(Cases, DisaggregatedSetGolden, testing::ValuesIn(golden::cases(kFolder)), golden::name_of);

}  // namespace
}  // namespace tpuslice::disaggregatedset
