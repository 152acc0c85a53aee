// input.yaml -> plan.yaml, for each folder of tests/golden/jobset.
#include <gtest/gtest.h>

#include <filesystem>

#include "api/base/check.h"
#include "api/base/file.h"
#include "api/types/yaml.h"
#include "controllers/jobset/jobset_plan.h"
#include "tests/golden/cases.h"
#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = "tests/golden/jobset";

JobChange state(const std::string& name) {
  const std::map<std::string, JobChange> states{
      {"fresh", fresh}, {"active", active}, {"ready", ready}, {"succeeded", succeeded}, {"suspended", suspended}};
  TPUSLICE_CHECK_MSG(states.contains(name), name);
  return states.at(name);
}

Duration seconds_at(const Json& json, const char* member) { return std::chrono::seconds(int_at(json, {member})); }

void apply_event(const Json& event, World& world) {
  const std::string job = string_at(event, {"job"});
  if (bool_at(event, {"missing"})) {
    world.without_job(job);
    return;
  }
  if (event.contains("is")) world.job(job, state(string_at(event, {"is"})));
  if (const Json* failure = find_path(event, {"failed"}); failure != nullptr) {
    world.job(job,
              failed(string_at(*failure, {"reason"}), string_at(*failure, {"message"}), seconds_at(*failure, "at")));
  }
  if (event.contains("started")) world.job(job, with_field("/status/startTime", event["started"]));
  if (event.contains("attempt")) world.job(job, of_attempt(static_cast<int>(int_at(event, {"attempt"}))));
  if (event.contains("deleted")) world.job(job, being_deleted(seconds_at(event, "deleted")));
}

// jobset: the JobSet. jobs: state of all its Jobs; service and claims exist too. was: the JobSet that the children were
// created for, if different. happened: changes of single Jobs. service: replaces the service. now: seconds after
// start_of_time().
World world_of(const Json& input) {
  World world(input.value("was", input["jobset"]));
  if (input.contains("jobs")) world.with_resources().every_job(state(string_at(input, {"jobs"})));
  world.jobset() = Object(input["jobset"]);
  for (const Json& event : array_at(input, {"happened"})) apply_event(event, world);
  if (input.contains("service")) world.with_service(input["service"]);
  world.now() = after(seconds_at(input, "now"));
  return world;
}

class JobSetGolden : public testing::TestWithParam<std::string> {};

TEST_P(JobSetGolden, PlansAsWritten) {
  const fs::path folder = kFolder / GetParam();
  const Result<Json> input = parse_yaml(read_file(folder / "input.yaml").value());
  ASSERT_TRUE(input.ok()) << input.error().message();
  const plan::Plan plan = plan_jobset(world_of(*input).observed(), {});
  golden::expect_as_written({to_json(plan)}, folder / "plan.yaml");
}

INSTANTIATE_TEST_SUITE_P(Cases, JobSetGolden, testing::ValuesIn(golden::cases(kFolder)), golden::name_of);

}  // namespace
}  // namespace tpuslice::jobset
