// The law of refused writes, for the worlds of all kinds: a write that is refused holds back no other write than those
// that depend on it, later plans make it again, and nothing is lost.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "controllers/plan/plan.h"
#include "controllers/plan/reconciler.h"
#include "tests/laws/laws.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::laws {

/// An API server that refuses all writes of some objects, as a policy does, and some writes of the others, as one does
/// that has too many requests.
class Refusals {
 public:
  explicit Refusals(Dice& dice) : dice_(&dice) {}

  std::optional<Error> operator()(const plan::Action& action) {
    const auto [object, is_new] =
        is_denied_.try_emplace(fmt::format("{} {}", action.type.kind, action.key.name), false);
    if (is_new) object->second = dice_->chance(25);
    if (object->second) return Error::of(ErrorCode::kForbidden, "a policy denies to {}", plan::write_of(action));
    if (dice_->chance(10)) return Error::unavailable("too many requests to {}", plan::write_of(action));
    return std::nullopt;
  }

 private:
  Dice* dice_;
  std::map<std::string, bool> is_denied_;  ///< By kind and name.
};

/// What a kind adds to the law.
template <typename World>
struct RefusedWrites {
  /// What is wrong with a plan.
  std::function<std::vector<std::string>(World&, const plan::Plan&)> violations;
  /// What happens after each plan.
  std::function<void(World&)> advance = [](World& world) { world.advance(); };
  /// Whether a write of the plan that makes `all` may wait for one that was refused with another
  /// Action::failure_reason.
  std::function<bool(const plan::Action&, const std::vector<plan::Action>& all)> may_wait =
      [](const plan::Action&, const std::vector<plan::Action>&) { return false; };
};

/// Writes that the plan for `world` lacks because of `failure` alone: those with another failure_reason, and, after
/// kRefusalRetry, any.
template <typename World>
[[nodiscard]] std::vector<std::string> held_back(World world, plan::Failure failure, const RefusedWrites<World>& kind) {
  const auto plan_after = [&](std::optional<plan::Failure> last) {
    world.set_failure(std::move(last));
    return world.plan();
  };
  const std::vector<plan::Action> all = actions_of(plan_after(std::nullopt));
  std::vector<std::string> out;
  const auto compare = [&](std::string_view when, const auto& waits) {
    const std::vector<std::string> made = plan::writes_of(plan_after(failure));
    for (const plan::Action& action : all) {
      if (std::ranges::find(made, plan::write_of(action)) != made.end() || waits(action)) continue;
      out.push_back(fmt::format("{}: no plan to {}", when, plan::write_of(action)));
    }
  };
  compare("after " + failure.reason, [&](const plan::Action& action) {
    return action.failure_reason == failure.reason || kind.may_wait(action, all);
  });
  failure.time -= plan::kRefusalRetry;
  compare("some time after " + failure.reason, [](const plan::Action&) { return false; });
  return out;
}

/// Carries out some plans while writes are refused. As the controller does after a failure, the status of the next
/// plan is written, which reports it. In the end all writes are accepted, and kRefusalRetry has passed. Returns the
/// number of plans with a refused write; the caller then lets the world settle.
template <typename World>
int reconcile_refused(World& world, Dice& dice, const RefusedWrites<World>& kind) {
  int refused = 0;
  world.refuse(Refusals(dice));
  for (int round = 4 + dice.below(8); round > 0 && !world.gone() && !testing::Test::HasFailure(); --round) {
    const World before = world;
    const plan::Plan plan = world.plan();
    EXPECT_THAT(kind.violations(world, plan), testing::IsEmpty()) << plan.reason;
    if (!world.carry_out(plan) && world.last_failure()) {
      ++refused;
      EXPECT_THAT(held_back(before, *world.last_failure(), kind), testing::IsEmpty()) << plan.reason;
      const plan::Plan next = world.plan();
      if (next.status) world.apply(*next.status);
    }
    kind.advance(world);
  }
  world.refuse(nullptr);
  world.pass(plan::kRefusalRetry);
  return refused;
}

}  // namespace tpuslice::laws
