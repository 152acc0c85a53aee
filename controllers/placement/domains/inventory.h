// Inventory: the domains of one accelerator while a plan assigns them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/placement/domains/comparison.h"
#include "controllers/placement/domains/domains.h"

namespace tpuslice::placement {

class AcceleratorCache;

/// Changes what uses the nodes, and undoes that when it is destroyed. Not thread-safe.
class Inventory {
 public:
  /// The cache outlives it.
  Inventory(AcceleratorCache& cache, Timestamp now);
  ~Inventory();
  Inventory(const Inventory&) = delete;
  Inventory& operator=(const Inventory&) = delete;

  /// All domains; those without nodes fit no requirements.
  [[nodiscard]] const Domains::ByValue& domains(const std::string& topology_key) {
    return domains_.of_key(topology_key);
  }
  [[nodiscard]] std::shared_ptr<Comparison> comparison(const NodeRequirements& requirements);
  /// compare(), then occupancy(). `viewer`: namespace that reads the text (visible_name()).
  [[nodiscard]] Fit check(const NodeRequirements& requirements, const std::string& domain,
                          std::string_view viewer = {});
  /// kOccupied if a node of the domain is used or reserved, else kNone.
  [[nodiscard]] Fit occupancy(const std::string& topology_key, const std::string& domain, std::string_view viewer);
  /// Set if all users of the domain are terminating or reserve it only, so it is free soon: until when that is
  /// expected.
  [[nodiscard]] std::optional<Timestamp> ending_until(const std::string& topology_key, const std::string& domain);
  [[nodiscard]] std::optional<Timestamp> ending_until(const Domain& domain) const;
  [[nodiscard]] Timestamp now() const { return now_; }
  /// The node of each host, by host index, for a slice in this domain. A node is listed several times if it has more
  /// chips than a pod asks for. Empty if pods of the slice have different requirements: then any node of the domain
  /// that suits the pod will do.
  [[nodiscard]] std::vector<std::string> nodes_by_host(const NodeRequirements& requirements, const std::string& domain);
  /// Number of nodes of the domain that are free.
  [[nodiscard]] std::size_t free_nodes(const std::string& topology_key, const std::string& domain);
  [[nodiscard]] std::vector<const NodeUse*> uses(const std::string& topology_key, const std::string& domain);
  /// Null if it is unknown.
  [[nodiscard]] const NodeUse* use_of(const std::string& node) const { return std::as_const(domains_).find(node); }
  /// The node with this value of kubernetes.io/hostname; null if there is none.
  [[nodiscard]] const NodeView* node_by_hostname(const std::string& hostname) {
    return domains_.node_by_hostname(hostname);
  }
  [[nodiscard]] std::size_t size() const { return domains_.node_count(); }

  /// Marks the pod's node as used by it, if the node is free.
  void add_user(const PodPtr& pod);
  /// Marks the free nodes of the domain as used by `user`, such as "default/train-0".
  void occupy(const std::string& topology_key, const std::string& domain, const std::string& user);
  /// Marks the free nodes of the domain as reserved for `user`.
  void reserve(const std::string& topology_key, const std::string& domain, const std::string& user,
               std::optional<Timestamp> backfill_until = {});
  /// Undoes reserve() for all users of the domain.
  void cancel_reservations(const std::string& topology_key, const std::string& domain);
  /// Undoes occupy() or reserve().
  void release(const std::string& topology_key, const std::string& domain, const SharedString& claimant);

 private:
  /// A domain without nodes if it does not exist.
  [[nodiscard]] const Domain& find(const std::string& topology_key, const std::string& domain);
  /// Sets the use of all free nodes of the domain.
  void set_free_nodes(const std::string& topology_key, const std::string& domain, const Use& use);
  void set_use(NodeUse& node, Use use);

  AcceleratorCache& cache_;
  Domains& domains_;  ///< Those of the cache.
  const Timestamp now_;
  std::vector<std::pair<NodeUse*, Use>> before_;  ///< What was changed, in order.
};

[[nodiscard]] Fit occupancy(const std::string& name, const Domain& domain, std::string_view viewer);

}  // namespace tpuslice::placement
