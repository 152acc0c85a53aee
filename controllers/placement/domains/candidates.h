// Candidates: the domains for all slices with equivalent node requirements.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/placement/domains/inventory.h"

namespace tpuslice::placement {

/// The domains are looked at once, when they are first needed. Not thread-safe.
class Candidates {
 public:
  /// All references outlive it. `scout_nodes`: nodes with scout pods (scouts.h), whose domains are used last, since a
  /// slice waits for them.
  Candidates(Inventory& inventory, NodeRequirements requirements, const DomainFailures& failures,
             const std::set<std::string>& scout_nodes)
      : inventory_(inventory),
        comparison_(inventory.comparison(requirements)),
        requirements_(std::make_shared<const NodeRequirements>(std::move(requirements))),
        failures_(failures),
        scout_nodes_(scout_nodes) {}

  [[nodiscard]] const NodeRequirements& requirements() const { return *requirements_; }
  /// What a slice that gets no domain lacks; null if its requirements are too many to be compared with nodes.
  [[nodiscard]] std::shared_ptr<const NodeRequirements> lacked() const {
    return requirements_->too_many ? nullptr : requirements_;
  }

  /// Compares the domains with the requirements, once.
  void check_domains();
  /// Removes and returns a free domain: `preferred` if it is one, else the best; empty if there is none.
  std::string take_free(std::string_view preferred = {});
  void put_back(std::string domain) { free_.push_back(std::move(domain)); }
  /// Number of domains that take_free() would return.
  [[nodiscard]] std::size_t count_free();
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
  [[nodiscard]] std::string explain(std::size_t needed, std::string_view viewer);

 private:
  /// Less is better.
  [[nodiscard]] std::pair<bool, int> rank(const std::string& name, const Domain& domain) const;

  Inventory& inventory_;
  const std::shared_ptr<Comparison> comparison_;
  const std::shared_ptr<const NodeRequirements> requirements_;
  const DomainFailures& failures_;
  const std::set<std::string>& scout_nodes_;
  /// A domain whose nodes match, and how it fits if it is free.
  struct Compared {
    const std::string* name;
    const Domain* domain;
    const Fit* fit;
  };
  bool checked_ = false;
  std::vector<Compared> compared_;
  std::vector<std::string> free_;      ///< The best is last.
  std::vector<std::string> skipped_;   ///< Names among the free ones; the best is first.
  std::vector<std::string> occupied_;  ///< The best is last.
  std::vector<std::string> ending_;    ///< Those of the occupied ones that were ending when the domains were compared.
  std::size_t usable_ = 0;
};

}  // namespace tpuslice::placement
