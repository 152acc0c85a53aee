#include "api/types/shared_string.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace tpuslice {
namespace {

/// Of a thread. A few dozen strings repeat in all objects of a workload; those that do not replace few of them. Two of
/// one place in the table would replace each other for each object, so that a place has room for two.
constexpr std::size_t kPlaces = 512;
/// Longer strings are no labels, and are not kept longer than needed.
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
  struct Place {
    SharedString newer;
    SharedString older;
  };
  thread_local std::array<Place, kPlaces> recent;
  if (text.empty() || text.size() > kMaxKept) return SharedString(text);
  auto& [newer, older] = recent[std::hash<std::string_view>()(text) % kPlaces];
  if (newer != text) std::swap(newer, older);
  if (newer != text) newer = SharedString(text);
  return newer;
}

}  // namespace tpuslice

fmt::format_context::iterator fmt::formatter<tpuslice::SharedString>::format(const tpuslice::SharedString& text,
                                                                             fmt::format_context& context) const {
  return fmt::formatter<std::string_view>::format(text.str(), context);
}
