// Domains: the nodes of one accelerator by domain, and what uses them. A domain is the nodes that share one value of the
// topology key and together are exactly one slice: on GKE, a node pool.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/slice/slice.h"

namespace tpuslice::slice {

/// A topology key and one of its values.
using DomainName = std::pair<std::string, std::string>;

/// Number of recent failures of each domain; domains without failures are absent.
using DomainFailures = std::map<DomainName, int>;

/// What uses a node.
struct Use {
  std::string user;       ///< Slice or pod that uses the node or has reserved it; empty for a free node.
  bool reserved = false;  ///< `user` does not use it yet.
  /// Of a reserved node: slices that end before may use it.
  std::optional<Timestamp> backfill_until = {};
  ObjectKey slice = {};  ///< Of a node in use: the slice; empty for a pod without one.
  bool bound = false;    ///< Of a node in use: the pod is on it. Otherwise kube-scheduler has yet to bind it.
  bool ending = false;   ///< Of a node in use: the pod on it is terminating.
};
/// Of a node that the pod is on.
[[nodiscard]] Use use_by(const PodView& pod);

struct Domain;

/// A node and what uses it.
struct NodeUse : Use {
  NodePtr node;
  std::vector<Domain*> domains;  ///< One for each topology key that was asked for.
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
  /// By the value of the topology key. A domain without nodes is kept while it has occupants.
  using ByValue = std::map<std::string, Domain, std::less<>>;

  /// Null: there is no such node any more.
  void set_node(const std::string& name, const NodePtr& node);
  /// The pod on the node; null if there is none. The node is known.
  void set_user(const std::string& node, const PodView* pod);
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
  void join(NodeUse& node, Domain& domain);
  static void leave(NodeUse& node, ByValue& domains, ByValue::iterator domain);
  /// What uses the node if no pod is on it: the first of the slices that occupy its domains.
  [[nodiscard]] static Use use_by_occupant(const NodeUse& node);
  static void update_occupied(Domain& domain);

  std::map<std::string, NodeUse> nodes_;  ///< By node name.
  std::map<std::string, ByValue> keys_;   ///< By topology key; those that were asked for.
  std::optional<std::map<std::string, const NodeView*>> hostnames_;  ///< Filled when it is first needed.
  std::uint64_t revision_ = 0;
};

/// The domain of an ungated host of a multi-host slice: that of its node, or the one it was placed in. Empty if it was
/// released without a domain and has no node yet.
[[nodiscard]] std::string domain_of(const PodView& pod, const std::string& topology_key, const NodeView* node);

/// The value of the topology key; empty without one.
[[nodiscard]] const std::string& domain_of_node(const NodeView& node, const std::string& topology_key);

/// "node pool" for GKE's label, else "value of <label>"; plural unless `count` is 1.
[[nodiscard]] std::string domain_noun(const std::string& topology_key, std::size_t count = 1);

}  // namespace tpuslice::slice
