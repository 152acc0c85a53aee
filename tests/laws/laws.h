// Shared by the laws of all kinds: random choices, and a fixture that runs a law over many worlds, each from one seed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "controllers/plan/plan.h"

namespace tpuslice::laws {

/// Random choices of a generator.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] int below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  [[nodiscard]] bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_() % i]);
  }

 private:
  std::mt19937_64 random_;
};

/// Of all stages, in order.
[[nodiscard]] inline std::vector<plan::Action> actions_of(const plan::Plan& plan) {
  std::vector<plan::Action> out;
  for (const plan::Stage& stage : plan.stages) out.insert(out.end(), stage.actions.begin(), stage.actions.end());
  return out;
}

/// After how many writes of the plan the operator is stopped: any number of its actions, and before the status.
[[nodiscard]] inline std::size_t cut(const plan::Plan& plan, Dice& dice) {
  return static_cast<std::size_t>(dice.below(static_cast<int>(actions_of(plan).size()) + 1));
}

/// The plan with its actions in any order, as one stage in which none holds back another.
[[nodiscard]] inline plan::Plan shuffled(plan::Plan plan, Dice& dice) {
  plan::Stage all{.actions = actions_of(plan), .independent = true};
  dice.shuffle(all.actions);
  plan.stages = {std::move(all)};
  return plan;
}

/// The environment variable TPUSLICE_SEED, or 1.
[[nodiscard]] inline std::uint64_t first_seed() {
  const char* chosen = std::getenv("TPUSLICE_SEED");  // NOLINT(concurrency-mt-unsafe): before any thread
  return chosen == nullptr ? 1 : std::strtoull(chosen, nullptr, 10);
}

/// The environment variable TPUSLICE_WORLDS, for fewer worlds than the laws have; else `all`.
[[nodiscard]] inline int chosen_worlds(int all) {
  const char* chosen = std::getenv("TPUSLICE_WORLDS");  // NOLINT(concurrency-mt-unsafe): before any thread
  return chosen == nullptr ? all : std::min(all, std::max(1, std::atoi(chosen)));
}

/// Fixture of laws over `worlds` worlds of a Generator for each law. The laws count the plans they check in seen(); all
/// laws of a program together check at least `observations`, unless fewer worlds are chosen.
template <typename Generator, int worlds, int observations>
class Laws : public testing::Test {
 public:
  [[nodiscard]] static int world_count() { return chosen_worlds(worlds); }
  [[nodiscard]] static bool has_all_worlds() { return world_count() == worlds; }

  static int& seen() {
    static int count = 0;
    return count;
  }

 protected:
  static void TearDownTestSuite() {
    const auto* run = ::testing::UnitTest::GetInstance();
    if (run->test_to_run_count() < run->total_test_count() || run->Failed()) return;
    if (!has_all_worlds()) return;
    EXPECT_GE(seen(), observations);
  }
  /// Calls `check(generator)` with many seeds; stops at the first that fails.
  template <typename Check>
  void for_many_worlds(Check check) {
    for (int i = 0; i < world_count(); ++i) {
      const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
      SCOPED_TRACE(fmt::format("TPUSLICE_SEED={}", seed));
      Generator generator(seed);
      check(generator);
      if (HasFailure()) return;
    }
  }
};

}  // namespace tpuslice::laws
