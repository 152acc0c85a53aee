// Fleets in a simulated cluster beside the other kinds: stores, one of them of a view of the kind, an index, watches,
// the write ledger, the executor and the slice controllers.
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/types/conditions.h"
#include "tests/example_kind/fleet_kind.h"
#include "tests/example_kind/rules/fleet_labels.h"
#include "tests/example_kind/rules/spec.h"
#include "tests/support/operator_world.h"

namespace tpuslice::testing {
namespace {

const ObjectKey kNorth{"default", "north"};

/// The Fleet of the sample: two ships of four hosts.
class FleetOperatorWorld final : public OperatorWorld {
 public:
  FleetOperatorWorld() : OperatorWorld({}, "tests/example_kind/deploy/example.com_fleets.yaml") {
    replacement.add_controllers = [](runtime::Manager& manager) {
      example::add_fleet(manager, {.mutation = {.kinds = example::own_kinds(), .gate = true}});
    };
    start_operator(replacement);
    require(cluster.apply_yaml(read_file("tests/example_kind/deploy/sample.yaml").value()));
  }

  void edit(const std::string& field, const Json& value) {
    const sim::ResourcePtr fleets = cluster.registry().resources().find_id("fleets.example.com");
    const auto changed = cluster.registry().modify(*fleets, kNorth, {}, [&](Json& json) -> Status {
      json["spec"][field] = value;
      return {};
    });
    TPUSLICE_CHECK_MSG(changed.ok(), changed.ok() ? "" : changed.error().message());
  }
  [[nodiscard]] Json status() const {
    const sim::JsonPtr fleet = cluster.get("fleets.example.com", kNorth);
    const Json* found = fleet == nullptr ? nullptr : find_set(*fleet, {"status"});
    return found == nullptr ? Json::object() : *found;
  }
  [[nodiscard]] bool is_ready(std::int64_t ships) const {
    const Json now = status();
    return int_at(now, {"readyShips"}) == ships && int_at(now, {"ships"}) == ships &&
           is_condition_true(array_at(now, {"conditions"}), example::kReady);
  }
  /// Null if there is none.
  [[nodiscard]] sim::JsonPtr pod(std::int64_t ship, std::int64_t host) const {
    return cluster.get("pods", {"default", example::pod_name("north", {ship, host})});
  }
  [[nodiscard]] std::string uid(std::int64_t ship, std::int64_t host) const {
    const sim::JsonPtr found = pod(ship, host);
    return found == nullptr ? "" : string_at(*found, {"metadata", "uid"});
  }
  [[nodiscard]] std::string flag() const {
    const sim::JsonPtr found = cluster.get("configmaps", {"default", "north-flag"});
    return found == nullptr ? "" : string_at(*found, {"data", "flag"});
  }

 protected:
  std::vector<std::string> check() override { return {}; }
};

TEST(FleetScenario, PlacesEachShipWhole) {
  FleetOperatorWorld world;
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2); })) << world.status().dump(1);
  std::set<std::string> pools;
  for (const std::int64_t ship : {0, 1}) {
    std::set<std::string> of_ship;
    for (const std::int64_t host : {0, 1, 2, 3}) of_ship.insert(world.pool_of(*world.pod(ship, host)));
    EXPECT_EQ(of_ship.size(), 1U);
    pools.merge(of_ship);
  }
  EXPECT_EQ(pools.size(), 2U);
  EXPECT_EQ(world.flag(), "blue");
}

TEST(FleetScenario, RestartsAShipThatLostAHostAndNoOther) {
  FleetOperatorWorld world;
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2); }));
  const std::string lost = world.uid(0, 2);
  const std::string mate = world.uid(0, 1);
  const std::string other = world.uid(1, 1);
  ASSERT_TRUE(world.cluster.fail_pod({"default", "north-0-2"}).ok());
  ASSERT_TRUE(world.run_until([&] {
    const std::string now = world.uid(0, 2);
    return !now.empty() && now != lost && world.is_ready(2);
  }));
  EXPECT_NE(world.uid(0, 1), mate);
  EXPECT_EQ(world.uid(1, 1), other);
}

TEST(FleetScenario, DeletesSurplusShipsAndCreatesThemAgain) {
  FleetOperatorWorld world;
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2); }));
  world.edit("ships", 1);
  ASSERT_TRUE(world.run_until([&] {
    for (const std::int64_t host : {0, 1, 2, 3}) {
      if (world.pod(1, host) != nullptr) return false;
    }
    return world.is_ready(1);
  }));
  world.edit("ships", 2);
  EXPECT_TRUE(world.run_until([&] { return world.is_ready(2); }));
}

TEST(FleetScenario, RestoresItsConfigMap) {
  FleetOperatorWorld world;
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2); }));
  ASSERT_TRUE(world.cluster.remove("configmaps", {"default", "north-flag"}).ok());
  ASSERT_TRUE(world.run_until([&] { return world.flag() == "blue"; }));
  world.edit("flag", "white");
  EXPECT_TRUE(world.run_until([&] { return world.flag() == "white"; }));
}

TEST(FleetScenario, ReportsASpecThatNoWebhookRefused) {
  FleetOperatorWorld world;
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2); }));
  world.edit("template", {{"spec", {{"containers", "none"}}}});
  EXPECT_TRUE(world.run_until(
      [&] { return condition_status(array_at(world.status(), {"conditions"}), "tpuslice.dev/Accepted") == "False"; }));
  EXPECT_NE(world.pod(1, 3), nullptr);
}

TEST(FleetScenario, AnIdleFleetCostsNoWrite) {
  FleetOperatorWorld world;
  ASSERT_TRUE(world.run_until([&] { return world.is_ready(2); }));
  // Event series are closed a few minutes after their last event.
  world.run_for(std::chrono::minutes(10));
  const sim::Revision revision = world.cluster.storage().revision();
  world.run_for(std::chrono::minutes(60));
  EXPECT_EQ(world.cluster.storage().revision(), revision);
}

TEST(FleetScenario, ANewOperatorGoesOnWhereTheLastOneWasKilled) {
  FleetOperatorWorld world;
  ASSERT_TRUE(world.run_until([&] { return world.pod(0, 0) != nullptr; }));
  world.kill_operators();
  world.start_operator(world.replacement);
  EXPECT_TRUE(world.run_until([&] { return world.is_ready(2); }));
}

}  // namespace
}  // namespace tpuslice::testing
