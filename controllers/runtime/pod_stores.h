// PodStores: pods that more than one watch brings, looked up as if one did.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "controllers/runtime/store.h"

namespace tpuslice::runtime {

/// Borrows its stores. They may hold other pods, too: an index tells them apart.
class PodStores {
 public:
  explicit PodStores(std::vector<PodStore*> stores) : stores_(std::move(stores)) {}

  /// Sorted by key, each pod once: where its labels changed, two watches may bring it for a moment.
  [[nodiscard]] std::vector<PodStore::Ptr> lookup(std::string_view index_value) const;

  [[nodiscard]] auto begin() const { return stores_.begin(); }
  [[nodiscard]] auto end() const { return stores_.end(); }

 private:
  std::vector<PodStore*> stores_;
};

}  // namespace tpuslice::runtime
