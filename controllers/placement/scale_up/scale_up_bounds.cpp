#include "controllers/placement/scale_up/scale_up_bounds.h"

#include <algorithm>

namespace tpuslice::placement {
namespace {

// Times the maximum.
constexpr std::size_t kOpenOfAccelerator = 10;
constexpr std::size_t kOfAccelerator = 20;

}  // namespace

std::size_t ScaleUpBounds::max_open() const { return kOpenOfAccelerator * max_; }
std::size_t ScaleUpBounds::max_kept() const { return kOfAccelerator * max_; }

void ScaleUpBounds::count(const WaitingSlice& waiting, ScaleUpState state) {
  ++by_requirements_[waiting.lacks.get()];
  ++total_;
  if (state == ScaleUpState::kUnsuccessful) ++unsuccessful_;
  if (state != ScaleUpState::kOpen) return;
  ++open_;
  ++by_namespace_[waiting.slice->key.namespace_name];
}

bool ScaleUpBounds::may_ask(const std::vector<const WaitingSlice*>& gang) const {
  const auto count_of = [](const auto& counts, const auto& key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
  };
  std::map<const NodeRequirements*, std::size_t> more;
  for (const WaitingSlice* waiting : gang) ++more[waiting->lacks.get()];
  const bool too_many_alike = std::ranges::any_of(
      more, [&](const auto& entry) { return count_of(by_requirements_, entry.first) + entry.second > max_; });
  if (too_many_alike) return false;
  const std::string& space = gang.front()->slice->key.namespace_name;
  const bool too_many_of_namespace = count_of(by_namespace_, space) + gang.size() > max_;
  const bool too_many_kept = total_ - unsuccessful_ + gang.size() > max_kept();
  return !too_many_of_namespace && open_ + gang.size() <= max_open() && !too_many_kept;
}

std::size_t ScaleUpBounds::take_excess(std::size_t more) {
  if (total_ + more <= max_kept()) return 0;
  const std::size_t excess = std::min(total_ + more - max_kept(), unsuccessful_);
  total_ -= excess;
  unsuccessful_ -= excess;
  return excess;
}

}  // namespace tpuslice::placement
