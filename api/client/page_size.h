// PageSize: how many objects to ask for in a page of a list, since pages can be too long for the transport, and lists
// too slow for their continue tokens.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tpuslice::client {

/// Continue tokens do not depend on the size of pages, so the next page may have another one.
class PageSize {
 public:
  explicit PageSize(std::int64_t usual, std::int64_t max) : usual_(usual), max_(max), limit_(max), objects_(usual) {}

  [[nodiscard]] std::int64_t objects() const { return objects_; }

  /// A page was longer than the transport accepts: halves the next one. False if it had one object. Then this object
  /// alone is too long, which says nothing about the others.
  [[nodiscard]] bool shrink() {
    const bool several = objects_ > 1;
    if (several) objects_ /= 2;
    limit_ = several ? objects_ : max_;
    return several;
  }

  /// A page was read. Small pages grow again: fast after one long object, slowly among many.
  void fits() {
    limit_ = std::min(max_, limit_ + std::max<std::int64_t>(1, limit_ / 8));
    objects_ = std::min({2 * objects_, usual_, limit_});
  }

  /// The list took so long that its continue token expired; larger pages may be in time. False if they cannot be
  /// larger.
  [[nodiscard]] bool grow() {
    usual_ = std::min(4 * usual_, max_);
    const std::int64_t before = std::exchange(objects_, std::min(usual_, limit_));
    return before < objects_;
  }

 private:
  std::int64_t usual_;
  std::int64_t max_;
  std::int64_t limit_;  ///< Pages of more objects were too long.
  std::int64_t objects_;
};

}  // namespace tpuslice::client
