#include "api/types/shared_string.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace tpuslice {
namespace {

/// A set-associative cache per thread: buckets by hash, and entries per bucket. All objects of a workload share a few
/// dozen strings; with several entries per bucket, strings that occur only once rarely evict a shared one.
constexpr std::size_t kPlaces = 256;
constexpr std::size_t kStringsOfAPlace = 4;
/// Longer strings are not cached: they are not labels and rarely repeat.
constexpr std::size_t kMaxKept = 512;

}  // namespace

SharedString::SharedString(std::string text) {
  if (!text.empty()) text_ = new Text{std::move(text)};  // NOLINT: counted
}

const std::string& SharedString::none() {
  static const std::string kNone;
  return kNone;
}

SharedString SharedString::decoded(std::string_view text) {
  using Place = std::array<SharedString, kStringsOfAPlace>;  // The newest first.
  thread_local std::array<Place, kPlaces> recent;
  if (text.empty() || text.size() > kMaxKept) return SharedString(text);
  Place& place = recent[std::hash<std::string_view>()(text) % kPlaces];
  auto* found = std::find(place.begin(), place.end(), text);
  if (found == place.end()) *--found = SharedString(text);
  std::rotate(place.begin(), found, found + 1);
  return place.front();
}

}  // namespace tpuslice

fmt::format_context::iterator fmt::formatter<tpuslice::SharedString>::format(const tpuslice::SharedString& text,
                                                                             fmt::format_context& context) const {
  return fmt::formatter<std::string_view>::format(text.str(), context);
}
