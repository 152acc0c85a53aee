// A kind built outside of controllers/ runs beside the others: stores of its own view, an index, kept annotations,
// watches, the write ledger and the executor, in a simulated cluster.
#include "tests/example_kind/fleet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/operator_world.h"

namespace tpuslice::testing {
namespace {

constexpr std::string_view kNorth =
    "{apiVersion: example.com/v1, kind: Fleet, metadata: {name: north, namespace: default},"
    " spec: {ships: 3, flag: blue}}";

class FleetWorld : public OperatorWorld {
 public:
  FleetWorld() : OperatorWorld({}, "tests/example_kind/fleet.yaml") {
    replacement.add_controllers = [](runtime::Manager& manager) { example::add_fleet(manager); };
    start_operator(replacement);
    EXPECT_TRUE(cluster.apply_yaml(std::string(kNorth)).ok());
  }

  [[nodiscard]] std::int64_t ships() const {
    return int_at(*cluster.get("fleets.example.com", {"default", "north"}), {"status", "ships"});
  }
  [[nodiscard]] std::string flag(int ship) const {
    const sim::JsonPtr found = cluster.get("configmaps", {"default", "north-" + std::to_string(ship)});
    return found == nullptr ? "" : string_at(*found, {"metadata", "annotations", example::kFlag});
  }

 protected:
  std::vector<std::string> check() override { return {}; }
};

TEST(ExampleKind, CreatesItsChildrenAndWritesItsStatus) {
  FleetWorld world;
  EXPECT_TRUE(world.run_until([&] { return world.ships() == 3; }));
  EXPECT_EQ(world.flag(0), "blue");
  EXPECT_EQ(world.flag(2), "blue");
}

TEST(ExampleKind, PatchesAChildWhoseKeptAnnotationChanged) {
  FleetWorld world;
  ASSERT_TRUE(world.run_until([&] { return world.ships() == 3; }));
  ASSERT_TRUE(world.cluster
                  .apply_yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: north-1, namespace: default,"
                              " annotations: {example.com/flag: white}}}")
                  .ok());
  EXPECT_TRUE(world.run_until([&] { return world.flag(1) == "blue"; }));
}

TEST(ExampleKind, RecreatesADeletedChild) {
  FleetWorld world;
  ASSERT_TRUE(world.run_until([&] { return world.ships() == 3; }));
  ASSERT_TRUE(world.cluster.remove("configmaps", {"default", "north-2"}).ok());
  EXPECT_TRUE(world.run_until([&] { return world.flag(2) == "blue"; }));
}

TEST(ExampleKind, WritesNothingWhenNothingChanged) {
  FleetWorld world;
  ASSERT_TRUE(world.run_until([&] { return world.ships() == 3; }));
  world.run_for(std::chrono::minutes(1));
  const sim::Revision revision = world.cluster.storage().revision();
  world.run_for(std::chrono::minutes(60));
  EXPECT_EQ(world.cluster.storage().revision(), revision);
}

}  // namespace
}  // namespace tpuslice::testing
