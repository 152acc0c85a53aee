#include "api/types/shared_string.h"

#include <array>

#include <fmt/format.h>

namespace tpuslice {
namespace {

/// Of a thread. A few dozen strings repeat in all objects of a workload; those that do not replace few of them.
constexpr std::size_t kSlots = 1024;
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
  thread_local std::array<SharedString, kSlots> recent;
  if (text.empty() || text.size() > kMaxKept) return SharedString(text);
  SharedString& slot = recent[std::hash<std::string_view>()(text) % kSlots];
  if (slot != text) slot = SharedString(text);
  return slot;
}

}  // namespace tpuslice

fmt::format_context::iterator fmt::formatter<tpuslice::SharedString>::format(const tpuslice::SharedString& text,
                                                                             fmt::format_context& context) const {
  return fmt::formatter<std::string_view>::format(text.str(), context);
}
