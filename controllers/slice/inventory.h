// Inventory: the domains of one accelerator and what occupies them. A domain is the nodes that share one value of the
// topology key and together are exactly one slice: on GKE, a node pool.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/slice/node_match.h"
#include "controllers/slice/slice.h"

namespace tpuslice::slice {

/// A topology key and one of its values.
using DomainName = std::pair<std::string, std::string>;

/// Number of recent failures of each domain; domains without failures are absent.
using DomainFailures = std::map<DomainName, int>;

/// Why a slice cannot get a domain.
enum class Obstacle : std::uint8_t {
  kNone,
  kMismatch,  ///< The node requirements select none of its nodes.
  kOccupied,  ///< Other pods use it, or it is reserved for an older slice.
  kUnusable,  ///< Nodes are missing, not Ready, cordoned, tainted, without chips, or differ from each other.
};

struct Fit {
  Obstacle obstacle = Obstacle::kNone;
  std::string text;  ///< "pool-b has 3 of 4 nodes Ready"; empty for kNone and kMismatch.
};

/// Different requirements of the pods of one slice, beyond which the slice is not placed: each is compared with each
/// node.
inline constexpr std::size_t kMaxRequirementsOfSlice = 8;

/// What the pods of a slice demand of nodes.
struct NodeRequirements {
  std::vector<PodRequirements> pods;  ///< One for each distinct set of selector, affinity and tolerations.
  bool too_many = false;              ///< More than kMaxRequirementsOfSlice; then `pods` is incomplete.
  std::string topology_key;
  std::int64_t chips = 0;  ///< Of one pod.
  std::int64_t hosts = 0;
  std::int64_t open_hosts = 0;  ///< Pods that exist and have no node.
  /// kubernetes.io/hostname in the node selectors, by host index, "" without one; empty if no pod has one. The other
  /// members do not depend on it.
  std::vector<std::string> hostnames;
};
[[nodiscard]] NodeRequirements node_requirements(const Slice& slice);
/// Inventory::check() returns the same for both.
[[nodiscard]] bool are_equivalent(const NodeRequirements& a, const NodeRequirements& b);

/// A node and what uses it.
struct NodeUse {
  NodePtr node;
  std::string user;       ///< Slice or pod that uses the node or has reserved it; empty for a free node.
  bool reserved = false;  ///< `user` does not use it yet.
  /// Of a reserved node: slices that end before may use it.
  std::optional<Timestamp> backfill_until;
  ObjectKey slice;      ///< Of a node in use: the slice; empty for a pod without one.
  bool bound = false;   ///< Of a node in use: the pod is on it. Otherwise kube-scheduler has yet to bind it.
  bool ending = false;  ///< Of a node in use: the pod on it is terminating.
};

/// Not thread-safe.
class Inventory {
 public:
  /// `pods` have TPUs, and are on these nodes or are placed and have no node yet. `slices` are made of them.
  Inventory(const std::vector<NodePtr>& nodes, const std::vector<PodPtr>& pods, const std::vector<Slice>& slices);
  /// Marks the nodes of these pods as used.
  void add_users(const std::vector<PodPtr>& pods);

  /// The values of a node label, sorted.
  [[nodiscard]] std::vector<std::string> domains(const std::string& topology_key);
  /// compare(), then occupancy(). `viewer`: namespace that reads the text (visible_name()).
  [[nodiscard]] Fit check(const NodeRequirements& requirements, const std::string& domain,
                          std::string_view viewer = {});
  /// Whether the slice could use the domain if it were free: kNone, kMismatch or kUnusable. Looks at the labels and
  /// taints of every node; the result is the same as long as the inventory exists.
  [[nodiscard]] Fit compare(const NodeRequirements& requirements, const std::string& domain);
  /// kOccupied if a node of the domain is used or reserved, else kNone.
  [[nodiscard]] Fit occupancy(const std::string& topology_key, const std::string& domain, std::string_view viewer);
  /// All users of the domain are terminating or reserve it only, so it is free soon.
  [[nodiscard]] bool is_ending(const std::string& topology_key, const std::string& domain);
  /// The node of each host, by host index, for a slice in this domain. A node is listed several times if it has more
  /// chips than a pod asks for. Empty if pods of the slice have different requirements: then any node of the domain
  /// that suits the pod will do.
  [[nodiscard]] std::vector<std::string> nodes_by_host(const NodeRequirements& requirements, const std::string& domain);
  /// Number of nodes of the domain that are free.
  [[nodiscard]] std::size_t free_nodes(const std::string& topology_key, const std::string& domain);
  [[nodiscard]] std::vector<const NodeUse*> uses(const std::string& topology_key, const std::string& domain);
  /// Null if it is unknown.
  [[nodiscard]] const NodeUse* use_of(const std::string& node) const;
  /// The node with this value of kubernetes.io/hostname; null if there is none.
  [[nodiscard]] const NodeView* node_by_hostname(const std::string& hostname);
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  /// Marks the free nodes of the domain as used by `user`, such as "default/train-0".
  void occupy(const std::string& topology_key, const std::string& domain, const std::string& user);
  /// Marks the free nodes of the domain as reserved for `user`.
  void reserve(const std::string& topology_key, const std::string& domain, const std::string& user,
               std::optional<Timestamp> backfill_until = {});
  /// Undoes reserve() for all users of the domain.
  void cancel_reservations(const std::string& topology_key, const std::string& domain);
  /// Undoes occupy() or reserve().
  void release(const std::string& topology_key, const std::string& domain, const std::string& user);

 private:
  using NodeUses = std::vector<NodeUse*>;
  using Domains = std::map<std::string, NodeUses>;

  /// For each node, whether a pod may run on it; empty if one of the pods may run on none.
  static std::vector<bool> matched_nodes(const NodeRequirements& requirements, const NodeUses& nodes);
  const Domains& domains_of(const std::string& topology_key);
  const NodeUses& nodes_of(const std::string& topology_key, const std::string& domain);
  void occupy_domains_of(const Slice& slice);
  /// Sets the use of all free nodes of the domain.
  void set_use(const std::string& topology_key, const std::string& domain, const NodeUse& use);

  std::map<std::string, NodeUse> nodes_;              ///< By node name.
  std::map<std::string, const NodeView*> hostnames_;  ///< Filled when it is first needed.
  std::map<std::string, Domains> by_key_;
};

/// The domain of an ungated host of a multi-host slice: that of its node, or the one it was placed in. Empty if it was
/// released without a domain and has no node yet.
[[nodiscard]] std::string domain_of(const PodView& pod, const std::string& topology_key, const NodeView* node);

/// The value of the topology key; empty without one.
[[nodiscard]] const std::string& domain_of_node(const NodeView& node, const std::string& topology_key);

/// "node pool" for GKE's label, else "value of <label>"; plural unless `count` is 1.
[[nodiscard]] std::string domain_noun(const std::string& topology_key, std::size_t count = 1);

}  // namespace tpuslice::slice
