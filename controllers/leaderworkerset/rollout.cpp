#include "controllers/leaderworkerset/rollout.h"

#include <algorithm>

namespace tpuslice::leaderworkerset {
namespace {

class Stepper {
 public:
  explicit Stepper(const RolloutState& state)
      : state_(state), surge_(std::min(state.policy.max_surge, state.replicas)) {}

  [[nodiscard]] RolloutStep step() const {
    if (!state_.leader_set) return {0, state_.replicas};
    const int now = state_.leader_set->replicas;
    const int partition = state_.leader_set->partition;
    if (state_.new_revision) {
      const int first = std::min(state_.replicas, now);
      return {first, now < state_.replicas ? state_.replicas : with_surge()};
    }
    if (partition == 0 && now == state_.replicas) return {0, state_.replicas};
    if (now < state_.replicas) return {partition, state_.replicas};
    if (state_.leader_set->replicas_without_surge != state_.replicas) {
      return {std::min(partition, state_.replicas + surge_), with_surge()};
    }
    return {std::min(partition, lowered(now)), with_surge()};
  }

 private:
  [[nodiscard]] bool is_ready(int group) const { return at(group).ready; }
  [[nodiscard]] bool is_updated(int group) const { return at(group).updated; }
  [[nodiscard]] RolloutState::GroupState at(int group) const {
    const auto place = static_cast<std::size_t>(group);
    return place < state_.groups.size() ? state_.groups[place] : RolloutState::GroupState{};
  }

  /// Groups that replace others for a while go when so few are left to do that maxUnavailable covers them.
  [[nodiscard]] int with_surge() const {
    int left = 0;
    for (int group = state_.policy.partition; group < state_.replicas; ++group) {
      if (!is_ready(group) || !is_updated(group)) ++left;
    }
    if (left > surge_) return state_.replicas + surge_;
    int wanted = state_.replicas + std::max(0, left - state_.policy.max_unavailable);
    // Not while those that stay are too few. Upstream counts on it that they become ready.
    const int most = std::min(state_.leader_set->replicas, state_.replicas + surge_);
    while (wanted < most && ready_below(wanted) < state_.replicas - state_.policy.max_unavailable) ++wanted;
    return wanted;
  }

  [[nodiscard]] int ready_below(int end) const {
    int ready = 0;
    for (int group = 0; group < end; ++group) {
      if (is_ready(group)) ++ready;
    }
    return ready;
  }

  [[nodiscard]] int lowered(int now) const {
    const int room = state_.policy.max_unavailable + surge_ - (state_.replicas + surge_ - now);
    int done = 0;
    while (done < now && is_ready(now - 1 - done) && is_updated(now - 1 - done)) ++done;
    const int base = std::max(0, now - done - room);
    // Those that are not ready below take from what may be unavailable.
    int partition = base;
    for (int group = 0; group < base; ++group) {
      if (!is_ready(group)) ++partition;
    }
    while (partition > base && (!is_ready(partition - 1) || is_updated(partition - 1))) --partition;
    return partition;
  }

  const RolloutState& state_;
  const int surge_;
};

}  // namespace

RolloutStep next_step(const RolloutState& state) {
  RolloutStep step = Stepper(state).step();
  step.partition = std::max(step.partition, state.policy.partition);
  return step;
}

}  // namespace tpuslice::leaderworkerset
