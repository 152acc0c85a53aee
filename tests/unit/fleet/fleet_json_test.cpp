#include "fleet/fleet_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/redaction.h"
#include "tests/support/error_matchers.h"
#include "tests/support/fleet_document.h"

namespace tpuslice::fleet {
namespace {

using namespace std::chrono_literals;
using testing::FleetDocument;
using ::testing::HasSubstr;
using ::testing::Not;

Fleet a_mixed_fleet() {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).pool({.name = "v6e-b", .not_ready = {2}}).pool({.name = "v6e-c"});
  document.slice({.workload = "train", .namespace_name = "ml", .pool = "v6e-a", .ready = 3});
  document.slice({.workload = "big", .namespace_name = "ml", .slice = "big-0", .gang = 2, .since = 20min});
  document.slice({.workload = "big", .namespace_name = "ml", .slice = "big-1", .gang = 2, .since = 20min});
  document.slice({.workload = "next", .namespace_name = "nlp", .priority = -1, .since = 5min});
  document.set("missing", Json::array());
  return build_fleet(*read_snapshot(document.json()));
}

TEST(FleetJson, IsReadAsItWasWritten) {
  const Fleet fleet = a_mixed_fleet();
  const auto read = read_fleet(write_fleet(fleet));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(*read, fleet);
}

TEST(FleetJson, HasTheMembersOfTheSchema) {
  const Json json = write_fleet(a_mixed_fleet());
  EXPECT_EQ(json["schema"], "tpuslice.dev/fleet.v1");
  const Json& pool = json["pools"][0];
  for (const char* member : {"name", "topologyKey", "accelerator", "tpu", "topology", "chips", "hosts", "nodes",
                             "state", "since", "users", "zone", "capacity"}) {
    EXPECT_TRUE(pool.contains(member)) << member;
  }
  const Json& slice = json["slices"][0];
  for (const char* member : {"namespace", "kind", "name", "slice", "accelerator", "tpu", "topology", "hosts", "ready",
                             "state", "since", "code", "reason", "position", "gang"}) {
    EXPECT_TRUE(slice.contains(member)) << member;
  }
  EXPECT_FALSE(write_fleet(a_mixed_fleet(), {.nodes = false})["pools"][0].contains("nodes"));
}

TEST(FleetJson, RefusesAnotherSchema) {
  EXPECT_THAT(read_fleet({{"schema", "tpuslice.dev/fleet.v2"}}).error().message(), HasSubstr("schema: Invalid value"));
  EXPECT_THAT(read_fleet({{"schema", "tpuslice.dev/fleet.v1"}}), IsError(ErrorCode::kInvalidArgument)) << "no time";
}

TEST(Redaction, HidesWhatIsInOtherNamespaces) {
  const auto may_read = [](const std::string& space) { return space == "nlp"; };
  const Fleet fleet = redacted(a_mixed_fleet(), may_read);
  const std::string text = write_fleet(fleet).dump();
  for (const char* secret : {"train", "big", "\"ml"}) EXPECT_THAT(text, Not(HasSubstr(secret)));
  EXPECT_THAT(text, HasSubstr("another namespace"));
  EXPECT_THAT(text, HasSubstr("next"));
  EXPECT_THAT(text, HasSubstr("v6e-b-2"));
  EXPECT_EQ(fleet.pools.size(), 3U);
  EXPECT_EQ(fleet.slices.size(), 4U);
}

TEST(Redaction, HidesNodes) {
  const auto may_read = [](const std::string&) { return true; };
  EXPECT_THAT(write_fleet(redacted(a_mixed_fleet(), may_read, false)).dump(), Not(HasSubstr("v6e-b-2")));
}

TEST(Redaction, LeavesOutTheHistoryOfOthers) {
  std::vector<HistoryRecord> history(2);
  history[0].namespace_name = "ml";
  history[1].namespace_name = "nlp";
  EXPECT_EQ(redacted(history, [](const std::string& space) { return space == "ml"; }).size(), 1U);
}

}  // namespace
}  // namespace tpuslice::fleet
