#include "controllers/drain/report.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuslice::drain {
namespace {

constexpr std::size_t kMaxNamespaces = 10;
constexpr std::size_t kMaxRemaining = 20;

std::size_t sum_of(const CountByNamespace& counts) {
  std::size_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

/// "12 (a: 8, b: 4)", the largest numbers first.
std::string counts_text(const CountByNamespace& counts) {
  if (counts.empty()) return "0";
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(), [](const auto& each) { return each.second; });
  std::vector<std::string> parts;
  for (const auto& [name, count] : sorted) {
    if (parts.size() == kMaxNamespaces) break;
    parts.push_back(fmt::format("{}: {}", name, count));
  }
  if (sorted.size() > kMaxNamespaces) {
    parts.push_back(fmt::format("{} more namespaces", sorted.size() - kMaxNamespaces));
  }
  return fmt::format("{} ({})", sum_of(counts), fmt::join(parts, ", "));
}

void print_remaining(const std::vector<Remaining>& remaining, std::string& out) {
  auto end = std::back_inserter(out);
  fmt::format_to(end, "\nremaining: {}\n", remaining.size());
  for (std::size_t i = 0; i < std::min(remaining.size(), kMaxRemaining); ++i) {
    fmt::format_to(end, "- {}\n", remaining[i].what);
    if (!remaining[i].command.empty()) fmt::format_to(end, "    {}\n", remaining[i].command);
  }
  if (remaining.size() > kMaxRemaining) fmt::format_to(end, "- {} more\n", remaining.size() - kMaxRemaining);
}

}  // namespace

std::string Report::to_string() const {
  std::string out = dry_run ? "dry run: nothing was changed; a drain would do this:\n" : "";
  auto end = std::back_inserter(out);
  const std::string deleted = configurations.empty() ? "none" : fmt::format("{}", fmt::join(configurations, ", "));
  fmt::format_to(end, "deleted: {}\n", deleted);
  fmt::format_to(end, "gate removed from pod templates: {}\n", counts_text(templates));
  fmt::format_to(end, "gate removed from pods: {}, of {} slices\n", counts_text(pods), slices);
  fmt::format_to(end, "scout pods deleted: {}\n", counts_text(scouts));
  fmt::format_to(end, "finalizers removed: {}\n", counts_text(finalizers));
  for (const std::string& note : notes) fmt::format_to(end, "note: {}\n", note);
  if (!complete()) {
    print_remaining(remaining, out);
  } else if (!dry_run) {
    out += "nothing of tpu-slice-operator holds pods or objects any more\n";
  }
  return out;
}

}  // namespace tpuslice::drain
