// Domains: the nodes of one accelerator by domain, and what uses them. A domain is the nodes that share one value of
// the topology key and together are exactly one slice: on GKE, a node pool.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "controllers/placement/slices.h"

namespace tpuslice::placement {

/// Number of recent failures of each domain; domains without failures are absent.
using DomainFailures = std::map<DomainName, int>;

/// Domains of one topology key that a slice does not get although they are free, with what a waiting reason says of
/// them.
using ExcludedDomains = std::map<std::string, std::string, std::less<>>;

/// A placed slice that occupies a domain: its key and display name.
using Occupant = std::pair<const ObjectKey, std::string>;

/// The pod or slice that uses a node. There is one for each node, so it is small: texts are made when needed.
struct Use {
  static constexpr Duration kMaxEnding = std::chrono::minutes(5);

  PodPtr pod = nullptr;                ///< On the node.
  const Occupant* occupant = nullptr;  ///< No pod is on the node, but this slice occupies its domain.
  SharedString claimant = {};  ///< The display name of a slice that the plan gives the node, or reserves it for.
  bool reserved = false;       ///< For the claimant, which does not use it yet.
  /// End of a reserved node's wait: slices that end before may use it.
  std::optional<Timestamp> backfill_until = {};

  [[nodiscard]] bool is_free() const { return pod == nullptr && occupant == nullptr && claimant.empty(); }
  /// Whether the pod on it is terminating, and its grace period did not end kMaxEnding ago: then it may never go away,
  /// since it has a finalizer or a volume cannot be unmounted.
  [[nodiscard]] bool is_ending(Timestamp now) const {
    return pod != nullptr && pod->deletion && now < *pod->deletion + kMaxEnding;
  }
  /// The slice or pod that uses the node, or for which it is reserved, such as "default/train (tpu-0)".
  [[nodiscard]] std::string user() const;
  /// The key of the slice that uses the node; empty if there is none, or only the plan gives it the node.
  [[nodiscard]] ObjectKey slice() const;
};

struct Domain;

/// A node and what uses it.
struct NodeUse : Use {
  NodePtr node;
  boost::container::small_vector<Domain*, 1> domains;  ///< One for each topology key that was asked for.
};

struct Domain {
  std::vector<NodeUse*> nodes;                 ///< By node name.
  std::size_t used = 0;                        ///< Number of nodes that are used or reserved.
  std::map<ObjectKey, std::string> occupants;  ///< Placed slices, whose nodes these are, by key: their display names.
  std::uint64_t revision = 0;                  ///< Changes with the nodes. No two domains ever have the same.
};

/// Not thread-safe.
class Domains {
 public:
  /// Domains by the value of the topology key. A domain without nodes is kept while it has occupants.
  using ByValue = std::map<std::string, Domain, std::less<>>;

  /// Null: the node no longer exists.
  void set_node(const std::string& name, const NodePtr& node);
  /// The pod on the node; null if there is none. The node is known.
  void set_user(const std::string& node, PodPtr pod);
  /// A placed slice uses all nodes of the domain, also those that none of its pods is on.
  void occupy(const DomainName& domain, const ObjectKey& slice, const std::string& display_name);
  /// Undoes occupy().
  void vacate(const DomainName& domain, const ObjectKey& slice);
  static void set_use(NodeUse& node, Use use);
  /// Forgets topology keys that no node has.
  void drop_unknown_keys();

  /// Valid until drop_unknown_keys(), as are the domains until the next change.
  [[nodiscard]] const ByValue& of_key(const std::string& topology_key) { return key(topology_key); }
  /// Null if it is unknown.
  [[nodiscard]] NodeUse* find(const std::string& node);
  [[nodiscard]] const NodeUse* find(const std::string& node) const;
  /// The node with this value of kubernetes.io/hostname; null if there is none.
  [[nodiscard]] const NodeView* node_by_hostname(const std::string& hostname);
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }

 private:
  ByValue& key(const std::string& topology_key);
  void add_node(const NodePtr& node);
  void join(NodeUse& node, Domain& domain);
  static void leave(NodeUse& node, ByValue& domains, ByValue::iterator domain);
  /// What uses the node if no pod is on it: the first of the slices that occupy its domains.
  [[nodiscard]] static Use use_by_occupant(const NodeUse& node);
  static void update_occupied(Domain& domain);

  std::map<std::string_view, NodeUse> nodes_;                        ///< By node name, which the NodeView holds.
  std::map<std::string, ByValue> keys_;                              ///< By topology key; those that were asked for.
  std::optional<std::map<std::string, const NodeView*>> hostnames_;  ///< Filled when it is first needed.
  std::uint64_t revision_ = 0;
};

}  // namespace tpuslice::placement
