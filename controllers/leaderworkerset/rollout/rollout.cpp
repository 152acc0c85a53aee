#include "controllers/leaderworkerset/rollout/rollout.h"

#include <algorithm>

namespace tpuslice::leaderworkerset {
namespace {

class Stepper {
 public:
  explicit Stepper(const RolloutState& state)
      : state_(state),
        surge_(std::min(state.policy.max_surge, state.replicas)),
        unavailable_(std::min(state.policy.max_unavailable, state.replicas)) {}

  [[nodiscard]] RolloutStep step() const {
    if (!state_.leader_set) return {state_.policy.partition, state_.replicas};
    RolloutStep step = upstream_step();
    if (!state_.new_revision) {
      step.partition = std::max(step.partition, min_partition(step.replicas));
      if (is_stuck_below(step.partition) && all_ready_and_updated(step.partition, step.replicas)) --step.partition;
    }
    step.partition = std::max(step.partition, state_.policy.partition);
    return step;
  }

 private:
  [[nodiscard]] RolloutStep upstream_step() const {
    const int now = state_.leader_set->replicas;
    const int partition = state_.leader_set->partition;
    // Surge groups of the previous rollout are kept until replicas_with_surge() drops them. Upstream deletes them at
    // once.
    if (state_.new_revision) return {now, now < state_.replicas ? state_.replicas : replicas_with_surge()};
    if (partition == 0 && now == state_.replicas) return {0, state_.replicas};
    if (now < state_.replicas) return {partition, state_.replicas};
    if (state_.leader_set->replicas_without_surge != state_.replicas) {
      return {std::min(partition, state_.replicas + surge_), replicas_with_surge()};
    }
    return {std::min(partition, lower_partition(now)), replicas_with_surge()};
  }

  /// The lowest partition that keeps the required number of groups ready, or all that are ready if there are fewer.
  [[nodiscard]] int min_partition(int replicas) const {
    const int now = state_.leader_set->partition;
    const int required_ready = std::min(ready_after(now, replicas), state_.replicas - unavailable_);
    int least = 0;
    for (int ready = ready_after(0, replicas); least < now && ready < required_ready; ++least) {
      if (least < replicas && is_ready(least) && !is_updated(least)) ++ready;
    }
    return least;
  }
  [[nodiscard]] bool is_stuck_below(int end) const {
    for (int group = state_.policy.partition; group < end; ++group) {
      if (at(group).stuck && !is_updated(group)) return true;
    }
    return false;
  }
  [[nodiscard]] bool all_ready_and_updated(int begin, int end) const {
    for (int group = begin; group < end; ++group) {
      if (!is_ready(group) || !is_updated(group)) return false;
    }
    return true;
  }
  /// Groups that stay ready with this partition and number of replicas.
  [[nodiscard]] int ready_after(int partition, int replicas) const {
    int count = 0;
    for (int group = 0; group < replicas; ++group) {
      if (stays_ready(group, partition)) ++count;
    }
    return count;
  }
  [[nodiscard]] bool stays_ready(int group, int partition) const {
    return is_ready(group) && (group < partition || is_updated(group));
  }

  [[nodiscard]] bool is_ready(int group) const { return at(group).ready; }
  [[nodiscard]] bool is_updated(int group) const { return at(group).updated; }
  [[nodiscard]] RolloutState::GroupState at(int group) const {
    const auto place = static_cast<std::size_t>(group);
    return place < state_.groups.size() ? state_.groups[place] : RolloutState::GroupState{};
  }

  /// Surge groups for the groups that are not updated yet. Those below the partition of the policy count, since they
  /// are updated when the partition is lowered. 0 if the partition excludes all groups.
  [[nodiscard]] int surge_needed() const {
    if (state_.policy.partition >= state_.replicas) return 0;
    int pending = 0;
    bool any_outdated = false;
    for (int group = 0; group < state_.replicas; ++group) {
      if (!is_ready(group) || !is_updated(group)) ++pending;
      any_outdated = any_outdated || at(group).outdated;
    }
    const int needed = pending > surge_ ? surge_ : std::max(0, pending - unavailable_);
    return any_outdated ? needed : std::min(needed, std::max(0, state_.leader_set->replicas - state_.replicas));
  }

  /// The surge shrinks as soon as maxUnavailable covers the groups that are not updated yet.
  [[nodiscard]] int replicas_with_surge() const {
    int desired = state_.replicas + surge_needed();
    // A ready surge group stays while too few of the others are ready. Upstream deletes it and assumes that they become
    // ready.
    const int now = state_.leader_set->replicas;
    const int partition = state_.new_revision ? now : state_.leader_set->partition;
    int last = std::min(now, state_.replicas + surge_);
    for (int group = last; group < now; ++group) {
      if (is_ready(group)) last = group + 1;
    }
    int ready = ready_after(partition, desired);
    for (; desired < last && ready < state_.replicas - unavailable_; ++desired) {
      if (stays_ready(desired, partition)) ++ready;
    }
    return desired;
  }

  [[nodiscard]] int lower_partition(int now) const {
    const int budget = unavailable_ + surge_ - (state_.replicas + surge_ - now);
    int done = 0;
    while (done < now && is_ready(now - 1 - done) && is_updated(now - 1 - done)) ++done;
    const int base = std::max(0, now - done - budget);
    // Unready groups below the partition use up maxUnavailable.
    int partition = base;
    for (int group = 0; group < base; ++group) {
      if (!is_ready(group)) ++partition;
    }
    while (partition > base && (!is_ready(partition - 1) || is_updated(partition - 1))) --partition;
    return partition;
  }

  const RolloutState& state_;
  const int surge_;
  const int unavailable_;
};

}  // namespace

RolloutStep next_step(const RolloutState& state) { return Stepper(state).step(); }

}  // namespace tpuslice::leaderworkerset
