// Candidates: the domains for all slices with equivalent node requirements.
#pragma once

#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "controllers/placement/domains/inventory.h"
#include "controllers/plan/waiting_code.h"

namespace tpuslice::placement {

/// The rank of each Capacity; less is better.
using CapacityOrder = std::array<int, 3>;
inline constexpr CapacityOrder kDefaultCapacityOrder = {0, 1, 2};

/// The best of the free domains is taken first: one without a scout, whose partition is healthy and that has no
/// maintenance scheduled within a day; then that with the fewest failures; then, of GKE's partitions, one whose
/// enclosing partitions have the fewest free nodes, so that large ones stay free; then by the preferred node affinity
/// of the pods; then by the order of capacities; then by name. The domains are looked at once, when they are first
/// needed. Not thread-safe.
class Candidates {
 public:
  struct Preferences {
    const DomainFailures& failures;
    /// Nodes with scout pods (scouts.h), whose domains are used last, since a slice waits for them.
    const std::set<std::string>& scout_nodes;
    CapacityOrder capacities = kDefaultCapacityOrder;
  };
  /// All that is referred to outlives it.
  Candidates(Inventory& inventory, NodeRequirements requirements, const Preferences& preferences)
      : inventory_(inventory),
        comparison_(inventory.comparison(requirements)),
        requirements_(std::make_shared<const NodeRequirements>(std::move(requirements))),
        preferences_(preferences) {}

  [[nodiscard]] const NodeRequirements& requirements() const { return *requirements_; }
  /// What a slice that gets no domain lacks; null if its requirements are too many to be compared with nodes.
  [[nodiscard]] std::shared_ptr<const NodeRequirements> lacked() const {
    return requirements_->too_many ? nullptr : requirements_;
  }

  /// Compares the domains with the requirements, once.
  void check_domains();
  /// Removes and returns a free domain that is not excluded: `preferred` if it is one, else the best; empty if there is
  /// none.
  std::string take_free(const ExcludedDomains& excluded = {}, std::string_view preferred = {});
  /// From now on, domains of one block of the network are taken first among free domains that are equally good: of the
  /// block with the fewest among those that have `needed`, else of the one that has most.
  void prefer_block(std::size_t needed, const ExcludedDomains& excluded);
  /// Why a slice in a domain that was taken may soon be lost: "has label ...=DEGRADED"; empty without a concern.
  [[nodiscard]] std::string concern(const std::string& domain);
  void put_back(std::string domain) { free_.push_back(std::move(domain)); }
  /// Number of domains that take_free() would return.
  [[nodiscard]] std::size_t count_free(const ExcludedDomains& excluded = {});
  /// Domains that take_free() has skipped may be free again.
  void restore_skipped();
  /// Removes and returns the occupied domain that is likely to become free first; empty if there is none.
  std::string take_occupied();
  /// The domains that would be free in an empty cluster, but are not.
  [[nodiscard]] const std::vector<std::string>& occupied();
  /// The domains of occupied() that become free soon: all pods that use them are terminating.
  [[nodiscard]] std::vector<std::string> ending();
  /// Does not return the domain any more, free or not.
  void remove(const std::string& domain);
  /// Number of domains that would be free in an empty cluster.
  [[nodiscard]] std::size_t usable();
  /// The waiting reason if fewer than `needed` domains are free, for `viewer`, a namespace.
  [[nodiscard]] std::string explain(std::size_t needed, std::string_view viewer, const ExcludedDomains& excluded = {});
  /// The same in one word.
  [[nodiscard]] plan::WaitingCode code();

 private:
  /// Less is better: has a scout, is a concern, failures, free nodes of enclosing partitions, preference, capacity.
  using Rank = std::tuple<bool, bool, int, std::vector<std::size_t>, std::int64_t, int>;
  [[nodiscard]] Rank rank(const std::string& name, const Domain& domain, const Fit& fit) const;
  /// The number of free nodes of each partition that encloses the domain, the smallest partition first. Empty for a
  /// domain that is no partition of GKE.
  [[nodiscard]] std::vector<std::size_t> free_nodes_around(const Domain& domain) const;
  /// Why a slice in a domain that fits may soon be lost; empty without a concern.
  [[nodiscard]] std::string concern(const Fit& fit) const;

  Inventory& inventory_;
  const std::shared_ptr<Comparison> comparison_;
  const std::shared_ptr<const NodeRequirements> requirements_;
  const Preferences preferences_;
  /// A domain whose nodes match, and how it fits if it is free.
  struct Compared {
    const std::string* name;
    const Domain* domain;
    const Fit* fit;
  };
  bool checked_ = false;
  std::vector<Compared> compared_;
  std::vector<std::string> free_;  ///< The best is last.
  /// Those that were free and as good as the best when the domains were compared.
  std::vector<std::pair<const std::string*, const Domain*>> equals_;
  std::vector<std::string> skipped_;   ///< Names among the free ones; the best is first.
  std::vector<std::string> occupied_;  ///< The best is last.
  std::vector<std::string> ending_;    ///< Those of the occupied ones that were ending when the domains were compared.
  std::size_t usable_ = 0;
};

}  // namespace tpuslice::placement
