// NamespaceBudget: how much memory the objects of a namespace may take in a store.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace tpuslice::runtime {

/// Not thread-safe.
class NamespaceBudget {
 public:
  /// `bytes` per namespace. A quarter is reserved for growth of known objects, such as of their status.
  explicit NamespaceBudget(std::size_t bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// An object that has `before` bytes, 0 if it is new or did not count, gets `after`. False, and nothing is changed,
  /// if its namespace has no room for it.
  [[nodiscard]] bool try_replace(const std::string& name, std::size_t before, std::size_t after) {
    const std::size_t limit = before == 0 ? bytes_ - bytes_ / 4 : bytes_;
    if (after > before && used(name) - before + after > limit) {
      std::size_t& fits_at = refused_[name];
      fits_at = std::max(fits_at, limit - std::min(limit, after - before));
      return false;
    }
    remove(name, before);
    add(name, after);
    return true;
  }
  void add(const std::string& name, std::size_t bytes) {
    if (bytes > 0) used_[name] += bytes;
  }
  void remove(const std::string& name, std::size_t bytes) {
    const auto found = used_.find(name);
    if (found == used_.end()) return;
    found->second -= bytes;
    if (found->second == 0) used_.erase(found);
  }
  /// Resets the used bytes, but keeps the refused objects.
  void clear() { used_.clear(); }

  /// There is room now for something that was refused.
  [[nodiscard]] bool has_room_again() const {
    return std::ranges::any_of(refused_, [this](const auto& each) { return used(each.first) <= each.second; });
  }
  void forget_refused() { refused_.clear(); }

 private:
  [[nodiscard]] std::size_t used(const std::string& name) const {
    const auto found = used_.find(name);
    return found == used_.end() ? 0 : found->second;
  }

  const std::size_t bytes_;
  std::map<std::string, std::size_t> used_;     ///< By namespace.
  std::map<std::string, std::size_t> refused_;  ///< By namespace: how much may be used for the smallest to fit.
};

}  // namespace tpuslice::runtime
