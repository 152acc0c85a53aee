#include "controllers/placement/queue.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuslice::placement {

void Queue::add(const Candidates& candidates, std::string name) { names_[&candidates].push_back(std::move(name)); }

std::string Queue::ahead_of(const Candidates& candidates, std::string_view viewer) const {
  const auto ahead = names_.find(&candidates);
  if (ahead == names_.end()) return {};
  std::vector<std::string> visible;
  std::ranges::copy_if(ahead->second, std::back_inserter(visible),
                       [&](const std::string& name) { return visible_name(name, viewer) == name; });
  std::string names = fmt::format("{}", fmt::join(visible | std::views::take(kMaxNames), ", "));
  if (visible.size() > kMaxNames) names += ", ...";
  const std::size_t count = ahead->second.size();
  return fmt::format("; {} slice{} ahead of it in the queue{}{}", count, count == 1 ? " is" : "s are",
                     names.empty() ? "" : ": ", names);
}

}  // namespace tpuslice::placement
