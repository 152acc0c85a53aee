// SharedString: text that is written once and kept by many: labels, annotations and other members of views, most of
// which are the same for all pods of a workload.
#pragma once

#include <atomic>
#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace tpuslice {

/// An immutable string of one pointer, whose copies share the text. An empty one has no text. Reads like a std::string.
/// Thread-safe as a std::shared_ptr is.
class SharedString {
 public:
  SharedString() = default;
  SharedString(std::string text);                                      // NOLINT: implicit, as the next one
  SharedString(const char* text) : SharedString(std::string(text)) {}  // NOLINT
  explicit SharedString(std::string_view text) : SharedString(std::string(text)) {}
  SharedString(const SharedString& other) noexcept : text_(other.text_) { retain(); }
  SharedString(SharedString&& other) noexcept : text_(std::exchange(other.text_, nullptr)) {}
  SharedString& operator=(SharedString other) noexcept {
    std::swap(text_, other.text_);
    return *this;
  }
  SharedString& operator=(std::same_as<std::string_view> auto text) { return *this = SharedString(text); }
  ~SharedString() { release(); }

  /// The same text as a string that this thread decoded a short time ago, if it finds one: decoded objects mostly
  /// repeat the strings of the last ones.
  [[nodiscard]] static SharedString decoded(std::string_view text);

  [[nodiscard]] const std::string& str() const { return text_ == nullptr ? none() : text_->text; }
  operator const std::string&() const { return str(); }  // NOLINT: implicit, as the next one
  operator std::string_view() const { return str(); }    // NOLINT

  [[nodiscard]] bool empty() const { return text_ == nullptr; }
  [[nodiscard]] std::size_t size() const { return str().size(); }
  [[nodiscard]] bool starts_with(std::string_view prefix) const { return str().starts_with(prefix); }
  /// How many strings share the text, among them those that decoded() may return; 0 for an empty one.
  [[nodiscard]] std::uint32_t sharers() const {
    return text_ == nullptr ? 0 : text_->references.load(std::memory_order_relaxed);
  }
  /// Whether it is the same text in memory, not only an equal one.
  [[nodiscard]] bool shares_with(const SharedString& other) const { return text_ == other.text_; }

  friend bool operator==(const SharedString& a, const SharedString& b) {
    return a.text_ == b.text_ || a.str() == b.str();
  }
  friend std::strong_ordering operator<=>(const SharedString& a, const SharedString& b) {
    return a.text_ == b.text_ ? std::strong_ordering::equal : a.str() <=> b.str();
  }
  template <typename Text>
  requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, SharedString>) friend bool
  operator==(const SharedString& a, const Text& b) {
    return std::string_view(a.str()) == std::string_view(b);
  }
  template <typename Text>
  requires(std::convertible_to<const Text&, std::string_view> &&
           !std::same_as<Text, SharedString>) friend std::strong_ordering
  operator<=>(const SharedString& a, const Text& b) {
    return std::string_view(a.str()) <=> std::string_view(b);
  }
  template <typename Text>
  requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, SharedString>) friend std::string
  operator+(const Text& a, const SharedString& b) {
    return std::string(std::string_view(a)) + b.str();
  }
  template <typename Text>
  requires std::convertible_to<const Text&, std::string_view>
  friend std::string operator+(const SharedString& a, const Text& b) {
    return std::string(a.str()).append(std::string_view(b));
  }
  friend std::ostream& operator<<(std::ostream& out, const SharedString& text) { return out << text.str(); }

 private:
  struct Text {
    std::string text;
    std::atomic<std::uint32_t> references{1};
  };
  static const std::string& none();
  void retain() const noexcept {
    if (text_ != nullptr) text_->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release() noexcept {
    if (text_ != nullptr && text_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete text_;  // NOLINT
  }

  Text* text_ = nullptr;
};

}  // namespace tpuslice

template <>
struct std::hash<tpuslice::SharedString> {
  std::size_t operator()(const tpuslice::SharedString& text) const noexcept {
    return std::hash<std::string>()(text.str());
  }
};

template <>
struct fmt::formatter<tpuslice::SharedString> : fmt::formatter<std::string_view> {
  fmt::format_context::iterator format(const tpuslice::SharedString& text, fmt::format_context& context) const;
};
