#include "cmd/kubectl-tpu/ui/fleet_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::plugin {
namespace {

Json pool(const std::string& name, const std::string& hosts) {
  return {{"name", name}, {"topologyKey", "k"}, {"hosts", hosts}};
}

Json fleet_of(Json pools, Json slices = Json::array()) {
  return {{"schema", "tpuslice.dev/fleet.v1"},
          {"time", "2026-01-01T00:00:00Z"},
          {"pools", std::move(pools)},
          {"slices", std::move(slices)}};
}

Json hidden_slice(int ready) { return {{"namespace", ""}, {"kind", ""}, {"name", ""}, {"ready", ready}}; }

TEST(FleetDiff, OfEqualFleetsIsEmpty) {
  const Json fleet = fleet_of({pool("a", "uu"), pool("b", "ff")});
  EXPECT_EQ(diff_fleets(fleet, fleet), Json::object());
}

TEST(FleetDiff, HasOnlyPoolsThatChanged) {
  const Json diff = diff_fleets(fleet_of({pool("a", "uu"), pool("b", "ff"), pool("c", "ff")}),
                                fleet_of({pool("b", "ub"), pool("a", "uu"), pool("d", "ff")}));
  EXPECT_EQ(
      diff,
      (Json{{"pools",
             {{"set", {{"k|b", pool("b", "ub")}, {"k|d", pool("d", "ff")}}}, {"removed", Json::array({"k|c"})}}}}));
}

TEST(FleetDiff, NumbersSlicesOfTheSameKey) {
  const Json before = fleet_of(Json::array(), {hidden_slice(1), hidden_slice(2), hidden_slice(3)});
  EXPECT_EQ(diff_fleets(before, fleet_of(Json::array(), {hidden_slice(1), hidden_slice(4)})),
            (Json{{"slices", {{"set", {{"///#2", hidden_slice(4)}}}, {"removed", Json::array({"///#3"})}}}}));
}

TEST(FleetDiff, HasMembersThatCameAndWent) {
  Json before = fleet_of(Json::array());
  Json after = before;
  before["missing"] = Json::array({{{"resource", "nodes"}}});
  after["time"] = "2026-01-01T00:00:01Z";
  after["attention"] = Json::array();
  EXPECT_EQ(diff_fleets(before, after),
            (Json{{"time", "2026-01-01T00:00:01Z"}, {"attention", Json::array()}, {"missing", nullptr}}));
}

}  // namespace
}  // namespace tpuslice::plugin
