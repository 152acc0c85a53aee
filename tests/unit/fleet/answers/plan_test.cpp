#include "fleet/answers/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/tables/texts.h"
#include "tests/support/fleet_document.h"

namespace tpuslice::fleet {
namespace {

using testing::FleetDocument;
using ::testing::HasSubstr;

/// The pods of a JobSet after they were placed in a fleet of their own.
std::vector<Json> created(int slices = 1) {
  FleetDocument document;
  for (int slice = 0; slice < slices; ++slice) {
    document.slice({.workload = "new", .slice = "new-" + std::to_string(slice), .pool = "planned-1", .gang = slices});
  }
  std::vector<Json> out;
  for (const Json& each : document.json()["pods"]) {
    out.push_back(each);
    const std::string host = string_at(each, {"metadata", "annotations", "tpuslice.dev/slice-host"});
    out.back()["spec"]["containers"][0]["env"] =
        Json::array({Json{{"name", "TPU_WORKER_ID"}, {"value", host}},
                     Json{{"name", "TPU_WORKER_HOSTNAMES"}, {"value", "a.new,b.new,c.new,d.new"}},
                     Json{{"name", "POD"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.name"}}}}}}});
  }
  out.push_back({{"kind", "Service"}, {"metadata", {{"name", "new"}}}});
  return out;
}

TEST(ManifestPlan, SaysWhereItFits) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a"}).pool({.name = "v6e-b"});
  const ManifestPlan plan = plan_of_objects(*read_snapshot(document.json()), created());
  EXPECT_EQ(plan.answer, Answer::kYes);
  ASSERT_EQ(plan.slices.size(), 1U);
  EXPECT_EQ(plan.slices[0].pool, "v6e-b");
  EXPECT_EQ(plan.chips, 16);
  ASSERT_EQ(plan.hosts.size(), 4U);
  EXPECT_EQ(plan.hosts[2].worker_id, "2");
  EXPECT_EQ(plan.hosts[2].host_name, "c.new");
  EXPECT_EQ(plan.hosts[2].env.back().second, "new-0-2") << "from the downward API";
  EXPECT_EQ(plan.objects.back().kind, "Pod");
  EXPECT_THAT(plan_text(plan), HasSubstr("Fits:       yes, now, in v6e-b\n"));
}

TEST(ManifestPlan, SaysBehindWhomItWouldWait) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a"}).slice({.workload = "next"});
  const ManifestPlan plan = plan_of_objects(*read_snapshot(document.json()), created());
  EXPECT_EQ(plan.answer, Answer::kNotNow);
  EXPECT_EQ(plan.slices[0].position, 2);
  EXPECT_EQ(plan.queued, 2);
  EXPECT_THAT(plan_text(plan), HasSubstr("it would be 2nd of 2"));
}

TEST(ManifestPlan, SaysThatItNeverFits) {
  FleetDocument document;
  document.pool({.name = "v6e-a"});
  const ManifestPlan plan = plan_of_objects(*read_snapshot(document.json()), created(2));
  EXPECT_EQ(plan.answer, Answer::kNever);
  EXPECT_EQ(plan.hosts.size(), 8U);
}

TEST(ManifestPlan, ReplacesPodsThatExist) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).slice({.workload = "new", .pool = "v6e-a"});
  EXPECT_EQ(plan_of_objects(*read_snapshot(document.json()), created()).answer, Answer::kYes);
}

}  // namespace
}  // namespace tpuslice::fleet
