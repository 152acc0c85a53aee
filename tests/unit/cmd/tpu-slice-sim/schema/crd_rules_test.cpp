// Rules of deploy/crds, which hold while the webhook is away. tests/e2e/crds/rules_test.cpp shows them on a real API
// server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/tpu-slice-sim/schema/structural.h"
#include "tests/support/crds.h"

namespace tpuslice::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json jobset_of(const std::vector<std::string>& names) {
  Json jobs = Json::array();
  for (const std::string& name : names) jobs.push_back({{"name", name}, {"template", Json::object()}});
  return {{"spec", {{"replicatedJobs", std::move(jobs)}}}};
}

/// "spec.replicatedJobs: ..." of each problem of an update.
std::vector<std::string> problems_of(const std::vector<std::string>& names, const std::vector<std::string>& before) {
  const Json old = jobset_of(before);
  std::vector<std::string> out;
  for (const FieldProblem& each : validate_rules(
           tpuslice::testing::stored_schema(tpuslice::testing::read_crd("JobSet")), jobset_of(names), &old)) {
    out.push_back(each.path + ": " + each.message);
  }
  return out;
}

TEST(CrdRules, KeepTheNamesOfReplicatedJobs) {
  const auto refused =
      ElementsAre("spec.replicatedJobs: Invalid value: replicated jobs cannot be added, removed or renamed");
  EXPECT_THAT(problems_of({"a", "b"}, {"a", "b"}), IsEmpty());
  EXPECT_THAT(problems_of({"a", "b", "c"}, {"a", "b"}), refused);
  EXPECT_THAT(problems_of({"a"}, {"a", "b"}), refused);
  EXPECT_THAT(problems_of({"a", "c"}, {"a", "b"}), refused);
}

}  // namespace
}  // namespace tpuslice::sim
