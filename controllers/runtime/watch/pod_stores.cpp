#include "controllers/runtime/watch/pod_stores.h"

#include <algorithm>
#include <iterator>

namespace tpuslice::runtime {
namespace {

/// The newer of two versions of one pod is first.
bool comes_before(const PodStore::Ptr& a, const PodStore::Ptr& b) {
  if (a->key != b->key) return a->key < b->key;
  return revision_of(a->resource_version) > revision_of(b->resource_version);
}

}  // namespace

std::vector<PodStore::Ptr> PodIndex::lookup(const std::string& value) const {
  std::vector<PodStore::Ptr> all;
  std::size_t sources = 0;
  for (const Index<PodView>& index : indexes_) {
    std::vector<PodStore::Ptr> found = index.lookup(value);
    if (found.empty()) continue;
    ++sources;
    all.insert(all.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  if (sources < 2) return all;
  std::sort(all.begin(), all.end(), comes_before);
  const auto same_pod = [](const PodStore::Ptr& a, const PodStore::Ptr& b) { return a->key == b->key; };
  all.erase(std::unique(all.begin(), all.end(), same_pod), all.end());
  return all;
}

bool PodIndex::contains(const std::string& value) const {
  return std::ranges::any_of(indexes_, [&](const Index<PodView>& index) { return index.contains(value); });
}

PodIndex PodStores::add_index(PodStore::IndexFunction function) const {
  std::vector<Index<PodView>> indexes;
  indexes.reserve(stores_.size());
  for (PodStore* store : stores_) indexes.push_back(store->add_index(function));
  return PodIndex(std::move(indexes));
}

}  // namespace tpuslice::runtime
