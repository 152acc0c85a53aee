// Random schedules of faults, one per seed. TPUSLICE_SIM_SEED=<n> runs only that one;
// TPUSLICE_SIM_SEEDS=<n> runs that many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fault_choices.h"
#include "tests/support/ray_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

/// One thing happens to the world.
std::string disturb(RayWorld& world, Random& random) {
  const std::vector<sim::JsonPtr> pods = world.pods_of(kTutorial);
  const std::vector<sim::JsonPtr> nodes = world.cluster.storage().list("nodes");
  const auto some_pod = [&] { return Object(*pods[random.uniform<std::size_t>(0, pods.size() - 1)]).key(); };
  const auto some_node = [&] { return Object(*nodes[random.uniform<std::size_t>(0, nodes.size() - 1)]).name(); };
  Status done;
  std::string what;
  switch (random.uniform(0, 7)) {
    case 0:
      if (pods.empty()) return "nothing";
      what = "delete pod " + some_pod().name;
      done = world.cluster.remove("pods", some_pod());
      break;
    case 1:
      if (pods.empty()) return "nothing";
      what = "fail a pod";
      done = world.cluster.fail_pod(some_pod());
      break;
    case 2:
      what = "lose a node";
      done = world.cluster.set_node_ready(some_node(), false);
      break;
    case 3:
      what = "delete a node";
      done = world.cluster.delete_node(some_node());
      break;
    case 4:
      what = "cordon a node";
      done = world.cluster.cordon(some_node());
      break;
    case 5:
      what = "compact";
      world.cluster.compact();
      break;
    case 6:
      what = "kill the operator";
      world.kill_operators();
      world.start_operator({.seed = random.next(), .faults = random_faults(random)});
      break;
    default:
      what = "a second operator";
      world.start_operator({.identity = "second", .seed = random.next(), .faults = random_faults(random)});
      break;
  }
  // The object may have been deleted.
  return done.ok() ? what : what + " (" + done.error().message() + ")";
}

void play(std::uint64_t seed) {
  Random random(seed);
  RayWorld world({.seed = seed, .jitter = true});
  std::string story;
  world.start_operator({.seed = seed, .faults = random_faults(random)});
  world.apply_tutorial();
  if (seed % 3 == 0) world.make_tutorial_fault_tolerant();
  const int disturbances = random.uniform(1, 8);
  for (int i = 0; i < disturbances; ++i) {
    world.run_for(std::chrono::milliseconds(random.uniform(0, 20'000)));
    story += "  " + disturb(world, random) + "\n";
  }
  world.heal();
  EXPECT_TRUE(world.run_until([&] { return world.is_ready(); }, 30min)) << story << world.digest();
  EXPECT_THAT(world.violations, IsEmpty()) << story;
  ASSERT_TRUE(world.cluster.remove(kRayClusters, kTutorial).ok());
  world.run_for(2min);
  EXPECT_THAT(world.cluster.storage().list("pods"), IsEmpty()) << story;
  EXPECT_THAT(world.cluster.storage().list("services"), IsEmpty()) << story;
}

TEST(RandomSchedule, AlwaysEndsReadyAndNeverDoublesAHost) {
  const std::int64_t only = env_integer("TPUSLICE_SIM_SEED", 0);
  const std::int64_t count = env_integer("TPUSLICE_SIM_SEEDS", 60);
  const std::int64_t first = only == 0 ? 1 : only;
  const std::int64_t last = only == 0 ? count : only;
  for (std::int64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(fmt::format("run this one alone with TPUSLICE_SIM_SEED={}", seed));
    play(static_cast<std::uint64_t>(seed));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tpuslice::testing
