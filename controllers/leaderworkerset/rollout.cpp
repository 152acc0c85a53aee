#include "controllers/leaderworkerset/rollout.h"

#include <algorithm>

namespace tpuslice::leaderworkerset {
namespace {

class Stepper {
 public:
  explicit Stepper(const RolloutState& state)
      : state_(state), surge_(std::min(state.policy.max_surge, state.replicas)) {}

  [[nodiscard]] RolloutStep step() const {
    if (!state_.leader_set) return {state_.policy.partition, state_.replicas};
    RolloutStep step = upstreams_step();
    if (!state_.new_revision) {
      step.partition = std::max(step.partition, least_partition(step.replicas));
      if (is_stuck_below(step.partition) && all_done_from(step.partition, step.replicas)) --step.partition;
    }
    step.partition = std::max(step.partition, state_.policy.partition);
    return step;
  }

 private:
  /// While all groups are as they were at its beginning, or become ready in their order.
  [[nodiscard]] RolloutStep upstreams_step() const {
    const int now = state_.leader_set->replicas;
    const int partition = state_.leader_set->partition;
    // Groups of a surge that an earlier rollout left are not ended before their turn. Upstream ends them at once.
    if (state_.new_revision) return {now, now < state_.replicas ? state_.replicas : with_surge()};
    if (partition == 0 && now == state_.replicas) return {0, state_.replicas};
    if (now < state_.replicas) return {partition, state_.replicas};
    if (state_.leader_set->replicas_without_surge != state_.replicas) {
      return {std::min(partition, state_.replicas + surge_), with_surge()};
    }
    return {std::min(partition, lowered(now)), with_surge()};
  }

  /// The lowest partition that keeps as many groups ready as are promised, or, where fewer are ready, all of them.
  [[nodiscard]] int least_partition(int replicas) const {
    const int now = state_.leader_set->partition;
    const int promised = std::min(kept(now, replicas), state_.replicas - state_.policy.max_unavailable);
    int least = 0;
    while (least < now && kept(least, replicas) < promised) ++least;
    return least;
  }
  [[nodiscard]] bool is_stuck_below(int end) const {
    for (int group = state_.policy.partition; group < end; ++group) {
      if (at(group).stuck && !is_updated(group)) return true;
    }
    return false;
  }
  [[nodiscard]] bool all_done_from(int begin, int end) const {
    for (int group = begin; group < end; ++group) {
      if (!is_ready(group) || !is_updated(group)) return false;
    }
    return true;
  }
  /// Of so many groups, those that are ready and stay what they are.
  [[nodiscard]] int kept(int partition, int replicas) const {
    int count = 0;
    for (int group = 0; group < replicas; ++group) {
      if (is_ready(group) && (group < partition || is_updated(group))) ++count;
    }
    return count;
  }

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
    const int needed = left > surge_ ? surge_ : std::max(0, left - state_.policy.max_unavailable);
    int wanted = state_.replicas + needed;
    // None that is ready goes while those that stay are too few. Upstream counts on it that they become ready.
    const int now = state_.leader_set->replicas;
    const int partition = state_.new_revision ? now : state_.leader_set->partition;
    int last = std::min(now, state_.replicas + surge_);
    for (int group = last; group < now; ++group) {
      if (is_ready(group)) last = group + 1;
    }
    while (wanted < last && kept(partition, wanted) < state_.replicas - state_.policy.max_unavailable) ++wanted;
    return wanted;
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

RolloutStep next_step(const RolloutState& state) { return Stepper(state).step(); }

}  // namespace tpuslice::leaderworkerset
