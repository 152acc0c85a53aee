#include "controllers/placement/scale_up_bounds.h"

#include <algorithm>

namespace tpuslice::placement {
namespace {

constexpr std::size_t kOfAccelerator = 10;  // Times the maximum.

}  // namespace

std::size_t ScaleUpBounds::limit() const { return kOfAccelerator * max_; }

void ScaleUpBounds::count(const WaitingSlice& waiting, Outcome outcome) {
  ++by_requirements_[waiting.lacks.get()];
  ++total_;
  if (outcome == Outcome::kUnsuccessful) ++unsuccessful_;
  if (outcome != Outcome::kOpen) return;
  ++open_;
  ++by_namespace_[waiting.slice->key.namespace_name];
}

Room ScaleUpBounds::room_for(const std::vector<const WaitingSlice*>& gang) const {
  const auto count_of = [](const auto& counts, const auto& key) {
    const auto found = counts.find(key);
    return found == counts.end() ? 0 : found->second;
  };
  std::map<const NodeRequirements*, std::size_t> more;
  for (const WaitingSlice* waiting : gang) ++more[waiting->lacks.get()];
  const bool too_many_alike = std::ranges::any_of(
      more, [&](const auto& entry) { return count_of(by_requirements_, entry.first) + entry.second > max_; });
  if (too_many_alike) return Room::kNo;
  const std::string& space = gang.front()->slice->key.namespace_name;
  const bool too_many_of_namespace = count_of(by_namespace_, space) + gang.size() > max_;
  const bool too_many_kept = total_ - unsuccessful_ + gang.size() > 2 * limit();
  const bool too_many = too_many_of_namespace || open_ + gang.size() > limit() || too_many_kept;
  return too_many ? Room::kNotYet : Room::kYes;
}

std::size_t ScaleUpBounds::take_excess(std::size_t more) {
  if (total_ + more <= 2 * limit()) return 0;
  const std::size_t excess = std::min(total_ + more - 2 * limit(), unsuccessful_);
  total_ -= excess;
  unsuccessful_ -= excess;
  return excess;
}

}  // namespace tpuslice::placement
