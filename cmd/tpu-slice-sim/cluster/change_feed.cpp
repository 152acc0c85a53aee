#include "cmd/tpu-slice-sim/cluster/change_feed.h"

#include <algorithm>

namespace tpuslice::sim {

namespace {

constexpr std::size_t kPage = 1000;

}  // namespace

ChangeFeed::ChangeFeed(const Storage& storage, ResourceNames resources, bool filter)
    : storage_(storage), resources_(std::move(resources)), filter_(filter) {}

ChangeFeed::ChangeFeed(const Storage& storage, std::vector<std::string> resources)
    : ChangeFeed(storage, [names = std::move(resources)] { return names; }) {}

ChangeFeed::Batch ChangeFeed::take() {
  Batch batch;
  if (storage_.revision() == cursor_) return batch;
  std::vector<std::string> names;
  if (filter_) names = resources_();
  for (;;) {
    Result<std::vector<Change>> page = storage_.changes({}, cursor_, kPage);
    if (!page) return relist();
    for (Change& change : *page) {
      cursor_ = std::max(cursor_, change.revision);
      if (!filter_ || std::find(names.begin(), names.end(), change.resource) != names.end()) {
        batch.changes.push_back(std::move(change));
      }
    }
    if (page->size() < kPage) return batch;
  }
}

ChangeFeed::Batch ChangeFeed::relist() {
  Batch batch{.relisted = true, .changes = {}};
  // The revision is read first, so that writes during the lists are seen twice rather than missed.
  cursor_ = storage_.revision();
  for (const std::string& name : resources_()) {
    for (JsonPtr& object : storage_.list(name)) {
      Change change;
      change.revision = cursor_;
      change.resource = name;
      change.key = {string_at(*object, {"metadata", "namespace"}), string_at(*object, {"metadata", "name"})};
      change.object = std::move(object);
      batch.changes.push_back(std::move(change));
    }
  }
  return batch;
}

}  // namespace tpuslice::sim
