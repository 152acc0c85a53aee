#include "controllers/runtime/pod_stores.h"

#include <algorithm>
#include <iterator>

namespace tpuslice::runtime {
namespace {

/// The newer one first of two that are the same pod.
bool comes_before(const PodStore::Ptr& a, const PodStore::Ptr& b) {
  if (a->key != b->key) return a->key < b->key;
  return revision_of(a->resource_version) > revision_of(b->resource_version);
}

}  // namespace

std::vector<PodStore::Ptr> PodStores::lookup(std::string_view index_value) const {
  std::vector<PodStore::Ptr> all;
  std::size_t sources = 0;
  for (const PodStore* store : stores_) {
    std::vector<PodStore::Ptr> found = store->lookup(index_value);
    if (found.empty()) continue;
    ++sources;
    all.insert(all.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  if (sources < 2) return all;
  std::sort(all.begin(), all.end(), comes_before);
  const auto twice = [](const PodStore::Ptr& a, const PodStore::Ptr& b) { return a->key == b->key; };
  all.erase(std::unique(all.begin(), all.end(), twice), all.end());
  return all;
}

}  // namespace tpuslice::runtime
