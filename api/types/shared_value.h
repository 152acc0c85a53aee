// SharedValue: a value of a view that many views have in common.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

namespace tpuslice {

/// A value of two pointers, whose copies share it. Thread-safe as a std::shared_ptr is.
template <typename T>
class SharedValue {
 public:
  /// T(), without an allocation.
  SharedValue() = default;

  /// The same object as an equal value that this thread decoded a short time ago, if it finds one, as with
  /// SharedString::decoded().
  [[nodiscard]] static SharedValue decoded(T value) {
    thread_local std::array<SharedValue, 4> recent;
    const auto equal = [&](const SharedValue& each) { return *each == value; };
    // If none is equal, the last one is replaced.
    SharedValue* found = std::find_if(recent.begin(), std::prev(recent.end()), equal);
    if (!equal(*found)) found->value_ = std::make_shared<T>(std::move(value));
    std::rotate(recent.begin(), found, found + 1);
    return recent.front();
  }

  const T& operator*() const {
    static const T kDefault{};
    return value_ == nullptr ? kDefault : *value_;
  }
  const T* operator->() const { return &**this; }
  /// To change it in this view alone, in the only thread that has copies of it.
  [[nodiscard]] T& edit() {
    if (value_ == nullptr || value_.use_count() > 1) value_ = std::make_shared<T>(**this);
    return *value_;
  }
  /// How many share the value, among them those that decoded() may return; 0 for T().
  [[nodiscard]] long sharers() const { return value_.use_count(); }
  /// Whether it is the same object in memory, not only an equal one.
  [[nodiscard]] bool shares_with(const SharedValue& other) const { return value_ == other.value_; }

  friend bool operator==(const SharedValue& a, const SharedValue& b) { return a.value_ == b.value_ || *a == *b; }

 private:
  std::shared_ptr<T> value_;  ///< Null: T().
};

}  // namespace tpuslice
