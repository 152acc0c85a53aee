// The API server refuses updates of one slice's pods: the others get its domain, its reason names the error, and it
// starts when updates are allowed again.
#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/slices/leader.h"
#include "tests/sim/slices/world.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kHosts = 3;
constexpr std::uint64_t kSeeds = 60;

/// One usable pool; `old` is the first in the queue, `young` is the next.
class OnePool {
 public:
  explicit OnePool(std::uint64_t seed) : world_(seed, 2, kHosts) {
    world_.with_timeline = true;
    world_.set_chips("pool-1-0", 0);
    add("old", static_cast<Owner>(seed % 3));
    run_until([this] { return exists("old"); }, 10s);
    world_.advance(2s);
  }

  void add(const std::string& name, Owner owner) {
    DesiredSlice desired;
    desired.name = name;
    desired.owner = owner;
    desired.hosts = kHosts;
    world_.add_slice(std::move(desired));
  }
  [[nodiscard]] DesiredSlice& slice(const std::string& name) {
    return *std::ranges::find(world_.desired(), name, &DesiredSlice::name);
  }
  [[nodiscard]] bool exists(const std::string& name) { return world_.live_hosts(slice(name)).front() != nullptr; }
  [[nodiscard]] bool runs(const std::string& name) {
    return std::ranges::all_of(world_.live_hosts(slice(name)),
                               [](const PodPtr& pod) { return pod != nullptr && !pod->node_name.empty(); });
  }
  [[nodiscard]] int released(const std::string& name) {
    return static_cast<int>(std::ranges::count_if(
        world_.live_hosts(slice(name)), [](const PodPtr& pod) { return pod != nullptr && !slice::is_gated(*pod); }));
  }
  [[nodiscard]] std::string reason_of(const std::string& name) {
    for (const PodPtr& pod : world_.live_hosts(slice(name))) {
      if (pod != nullptr && !pod->annotation(tpu::kWaiting).empty()) return pod->annotation(tpu::kWaiting);
    }
    return {};
  }
  void start_leader(const LeaderOptions& options = {}) { leader_.emplace(world_, remembered_, "leader", options); }
  [[nodiscard]] std::int64_t writes() const { return leader_->writes(); }
  [[nodiscard]] World& world() { return world_; }

  /// Everybody works until it is so; false if it is not so in time.
  bool run_until(const std::function<bool()>& reached, Duration within) {
    const Timestamp end = world_.now() + within;
    for (; world_.now() < end; world_.advance(100ms)) {
      for (bool busy = true; busy;) {
        if (reached()) return true;
        busy = world_.owners_step() || world_.kubelets_step() || world_.scheduler_step();
        if (!leader_) continue;
        remembered_.update();
        leader_->observe(1000);
        busy = leader_->act(world_) || busy;
      }
    }
    return false;
  }

 private:
  World world_;
  RememberedChanges remembered_{world_};
  std::optional<Leader> leader_;
};

TEST(RefusedSlices, LeaveTheirDomainToOthersAndStartWhenTheyAreAllowed) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    OnePool cluster(seed);
    cluster.world().set_refused(cluster.slice("old"), true);
    cluster.add("young", Owner::kJob);
    cluster.start_leader();
    ASSERT_TRUE(cluster.run_until([&] { return cluster.runs("young"); }, 20s)) << "seed " << seed << "\n"
                                                                               << cluster.world().timeline();
    cluster.slice("young").deleted = true;
    cluster.world().set_refused(cluster.slice("old"), false);
    ASSERT_TRUE(cluster.run_until([&] { return cluster.runs("old"); }, 6min)) << "seed " << seed << "\n"
                                                                              << cluster.world().timeline();
  }
}

TEST(RefusedSlices, CostFewWritesHoweverMuchChanges) {
  OnePool cluster(1);
  cluster.world().set_refused(cluster.slice("old"), true);
  cluster.start_leader();
  for (int i = 0; i < 1200; ++i) {
    // Each change of a node plans the accelerator again.
    cluster.world().cordon("pool-1-1", i % 2 == 0);
    cluster.run_until([] { return false; }, 100ms);
  }
  EXPECT_EQ(cluster.writes(), 8) << "in two minutes: releases after 0, 1, 3, 7, 15, 31 and 63 s, and the reason";
}

TEST(RefusedSlices, ThatHaveStartedInPartAreTornDown) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    OnePool cluster(seed);
    cluster.start_leader();
    ASSERT_TRUE(cluster.run_until([&] { return cluster.released("old") > 0; }, 20s)) << seed;
    cluster.world().set_refused(cluster.slice("old"), true);
    cluster.add("young", Owner::kJob);
    const bool complete = cluster.released("old") == kHosts;
    if (complete) continue;
    ASSERT_TRUE(cluster.run_until([&] { return cluster.runs("young"); }, 4min)) << "seed " << seed << "\n"
                                                                                << cluster.world().timeline();
    cluster.slice("young").deleted = true;
    cluster.world().set_refused(cluster.slice("old"), false);
    ASSERT_TRUE(cluster.run_until([&] { return cluster.runs("old"); }, 10min)) << "seed " << seed << "\n"
                                                                               << cluster.world().timeline();
  }
}

}  // namespace
}  // namespace tpuslice::testing
