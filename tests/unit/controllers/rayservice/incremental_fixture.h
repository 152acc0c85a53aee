// Fixture of upgrades with NewClusterWithIncrementalUpgrade.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controllers/rayservice/rules/spec.h"
#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {

/// A RayService that serves behind its Gateway: maxSurgePercent 50, stepSizePercent 25, an interval of 10 s.
class IncrementalFixture : public testing::Test {
 protected:
  IncrementalFixture() : world_(an_incremental_service()) { start(); }

  void start() {
    ASSERT_TRUE(run_until([&] { return !world_.active().empty() && !world_.weights().empty(); }));
    for (int i = 0; i < 4; ++i) round();
    first_ = world_.active();
  }
  plan::Plan round() {
    plan::Plan out = world_.step();
    for (const plan::Stage& stage : out.stages) {
      for (const plan::Action& action : stage.actions) {
        if (action.events == nullptr) continue;
        for (const plan::EventIntent& event : action.events->on_success) events_.push_back(event.reason);
      }
    }
    for (const plan::EventIntent& event : out.events) events_.push_back(event.reason);
    world_.advance();
    return out;
  }
  // Plans and lets time pass until the condition holds. The capacities stay within 100 + maxSurgePercent.
  template <typename Condition>
  [[nodiscard]] bool run_until(Condition condition, int limit = 80) {
    for (int i = 0; i < limit && !condition(); ++i) {
      round();
      int sum = 0;
      for (const auto& [name, cluster] : world_.clusters()) {
        if (name == world_.active() || name == world_.pending()) sum += world_.capacity(name);
      }
      if (string_at(world_.service(), {"spec", "upgradeStrategy", "type"}) == kIncrementalUpgrade) {
        EXPECT_LE(sum, 150);
      }
    }
    return condition();
  }
  void set_image(const std::string& image) {
    world_.config()["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["image"] = image;
  }
  // Begins an upgrade, until the new cluster has this part of the traffic.
  void upgrade_to(int traffic) {
    set_image("next");
    ASSERT_TRUE(run_until([&] { return share("pending", "trafficRoutedPercent") >= traffic; }));
    second_ = world_.pending();
  }
  [[nodiscard]] int share(const std::string& role, const char* member) {
    return static_cast<int>(int_at(world_.service(), {"status", role + "ServiceStatus", member}, -1));
  }
  [[nodiscard]] bool has_rolled_back() { return world_.active() == first_ && world_.pending().empty(); }

  World world_;
  std::string first_;
  std::string second_;
  std::vector<std::string> events_;
};

}  // namespace tpuslice::rayservice
