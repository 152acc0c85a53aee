// PodStores: pods of several watches, looked up as if they came from one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "controllers/runtime/watch/store.h"

namespace tpuslice::runtime {

/// An index over several stores of pods.
class PodIndex {
 public:
  PodIndex() = default;
  explicit PodIndex(std::vector<Index<PodView>> indexes) : indexes_(std::move(indexes)) {}

  /// Sorted by key, each pod once: when its labels change, two watches may hold it for a moment.
  [[nodiscard]] std::vector<PodStore::Ptr> lookup(const std::string& value) const;
  /// Whether lookup() returns any pod.
  [[nodiscard]] bool contains(const std::string& value) const;

 private:
  std::vector<Index<PodView>> indexes_;
};

/// Borrows its stores. They may hold other pods, too; the index function skips those.
class PodStores {
 public:
  explicit PodStores(std::vector<PodStore*> stores) : stores_(std::move(stores)) {}

  [[nodiscard]] PodIndex add_index(PodStore::IndexFunction function) const;

  [[nodiscard]] auto begin() const { return stores_.begin(); }
  [[nodiscard]] auto end() const { return stores_.end(); }

 private:
  std::vector<PodStore*> stores_;
};

}  // namespace tpuslice::runtime
