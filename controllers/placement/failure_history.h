// FailureHistory: in which domains slices were lost recently, as the watches showed it. Placement prefers other
// domains. Each replica keeps its own in memory: one that was
// just started has an empty history.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "api/base/mutex.h"
#include "controllers/placement/domains/inventory.h"
#include "controllers/runtime/watch/store.h"

namespace tpuslice::placement {

/// Thread-safe.
class FailureHistory {
 public:
  /// Older failures do not count.
  static constexpr Duration kWindow = std::chrono::minutes(30);
  /// Failures of one domain within this time count once.
  static constexpr Duration kSameFailure = std::chrono::seconds(30);
  /// While the hosts of a domain are repaired one by one, all of them may be Ready for a moment.
  static constexpr Duration kUnstable = std::chrono::minutes(15);
  static constexpr std::size_t kMaxFailuresPerDomain = 8;
  /// Beyond it, the domain with the oldest failure is dropped.
  static constexpr std::size_t kMaxDomains = 10'000;

  void record(const DomainName& domain, Timestamp now) TPUSLICE_EXCLUDES(mutex_);
  /// Domains with at least two failures; one may be chance.
  [[nodiscard]] DomainFailures recent(Timestamp now) const TPUSLICE_EXCLUDES(mutex_);
  /// Domains with a failure within kUnstable.
  [[nodiscard]] std::set<DomainName> unstable(Timestamp now) const TPUSLICE_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<DomainName, std::vector<Timestamp>> times_ TPUSLICE_GUARDED_BY(mutex_);
};

/// The domain in which a slice was lost by this change of a pod: the pod failed, or was deleted before it was
/// scheduled. Empty names for any other change.
[[nodiscard]] DomainName failed_domain(const runtime::NodeStore& nodes, const PodPtr& before, const PodPtr& after);

/// The domains of the slices on a node that is no longer Ready, or was deleted.
[[nodiscard]] std::vector<DomainName> failed_domains(const std::vector<PodPtr>& pods_on_node, const NodePtr& before,
                                                     const NodePtr& after);

}  // namespace tpuslice::placement
