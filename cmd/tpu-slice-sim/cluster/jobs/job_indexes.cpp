#include "cmd/tpu-slice-sim/cluster/jobs/job_indexes.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "api/base/strings.h"

namespace tpuslice::sim {

IndexSet IndexSet::parse(std::string_view text, int limit) {
  IndexSet out;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view range = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const std::size_t dash = range.find('-');
    const auto first = parse_count(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_count(range.substr(dash + 1));
    if (first && last && *first < limit && *first <= *last) out.add(*first, std::min(*last, limit - 1));
  }
  return out;
}

void IndexSet::add(int first, int last) {
  auto next = ranges_.upper_bound(first);
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->second + 1 >= first) {
      first = before->first;
      last = std::max(last, before->second);
      next = ranges_.erase(before);
    }
  }
  while (next != ranges_.end() && next->first <= last + 1) {
    last = std::max(last, next->second);
    next = ranges_.erase(next);
  }
  ranges_[first] = last;
}

void IndexSet::add(const IndexSet& other) {
  for (const auto& [first, last] : other.ranges_) add(first, last);
}

bool IndexSet::has(int index) const {
  const auto next = ranges_.upper_bound(index);
  return next != ranges_.begin() && std::prev(next)->second >= index;
}

int IndexSet::size() const {
  int total = 0;
  for (const auto& [first, last] : ranges_) total += last - first + 1;
  return total;
}

int IndexSet::common_with(const IndexSet& other) const {
  int total = 0;
  auto mine = ranges_.begin();
  auto theirs = other.ranges_.begin();
  while (mine != ranges_.end() && theirs != other.ranges_.end()) {
    const int last = std::min(mine->second, theirs->second);
    total += std::max(0, last - std::max(mine->first, theirs->first) + 1);
    (mine->second == last ? mine : theirs)++;
  }
  return total;
}

std::vector<int> IndexSet::lowest_missing(int count, int limit) const {
  std::vector<int> out;
  int candidate = 0;
  const auto take_until = [&](int end) {
    for (; candidate < end && static_cast<int>(out.size()) < count; ++candidate) out.push_back(candidate);
  };
  for (const auto& [first, last] : ranges_) {
    take_until(std::min(first, limit));
    candidate = std::max(candidate, last + 1);
  }
  take_until(limit);
  return out;
}

std::string IndexSet::to_string() const {
  std::string out;
  for (const auto& [first, last] : ranges_) {
    if (!out.empty()) out += ',';
    out += std::to_string(first);
    if (last > first) out += fmt::format("{}{}", last == first + 1 ? ',' : '-', last);
  }
  return out;
}

}  // namespace tpuslice::sim
