// Troubles: in which domains slices were lost lately, as the watches told. Where there is a choice, placement avoids
// them for a while. A preference and no more: it is kept in memory, and a new leader begins without it.
#pragma once

#include <map>
#include <vector>

#include "api/base/mutex.h"
#include "controllers/runtime/store.h"
#include "controllers/slice/inventory.h"

namespace tpuslice::slice {

/// Thread-safe.
class Troubles {
 public:
  /// Trouble older than this counts no more.
  static constexpr Duration kMemory = std::chrono::minutes(30);
  /// What follows within this time belongs to the same trouble.
  static constexpr Duration kSame = std::chrono::seconds(30);
  /// Of one domain; and of domains, of which the one with the oldest trouble is forgotten.
  static constexpr std::size_t kMostOfOne = 8;
  static constexpr std::size_t kMostDomains = 10'000;

  void add(const DomainName& domain, Timestamp now) TPUSLICE_EXCLUDES(mutex_);
  /// Domains that had trouble at least twice: once is chance.
  [[nodiscard]] TroubleCounts recent(Timestamp now) const TPUSLICE_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<DomainName, std::vector<Timestamp>> times_ TPUSLICE_GUARDED_BY(mutex_);
};

/// The domain that had trouble when a pod changed so: it failed there, or had to be taken away without having got a
/// node. Empty names for all other changes.
[[nodiscard]] DomainName trouble_of(const runtime::NodeStore& nodes, const PodPtr& before, const PodPtr& after);

/// The domains of the slices on a node when it ceased to be Ready, or to be.
[[nodiscard]] std::vector<DomainName> troubles_of(const std::vector<PodPtr>& pods_on_node, const NodePtr& before,
                                                  const NodePtr& after);

}  // namespace tpuslice::slice
