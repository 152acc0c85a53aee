// Inventory: the domains of one accelerator (sets of nodes that are a whole slice, a node pool on GKE), what uses them,
// and what is wrong with them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controllers/slice/slice.h"

namespace tpuslice::slice {

/// A topology key and one of its values.
using DomainName = std::pair<std::string, std::string>;

/// How often each domain had trouble lately; domains without are absent.
using TroubleCounts = std::map<DomainName, int>;

/// What stands between a slice and a domain.
enum class Obstacle : std::uint8_t {
  kNone,
  kForeign,  ///< The domain is not for such slices at all.
  kBusy,     ///< Other pods use it, or it is kept for an older slice.
  kBroken,   ///< Nodes are missing, not Ready, cordoned, tainted, without chips, or not alike.
};

struct Verdict {
  Obstacle obstacle = Obstacle::kNone;
  std::string text;  ///< "pool-b has 3 of 4 nodes Ready"; empty for kNone and kForeign.
};

/// What a slice wants of each node: what its pods say, and how many there are.
struct Wish {
  std::vector<PodPtr> choosers;  ///< One pod for each way of choosing nodes.
  std::string topology_key;
  std::int64_t chips = 0;  ///< Of one pod.
  std::int64_t hosts = 0;
};
[[nodiscard]] Wish wish_of(const Slice& slice);
/// The two get the same verdict on every domain.
[[nodiscard]] bool same_wish(const Wish& a, const Wish& b);

/// Not thread-safe.
class Inventory {
 public:
  /// `pods`: those with TPU that are on these nodes, or have been placed but have no node yet. `slices` are theirs.
  Inventory(const std::vector<NodePtr>& nodes, const std::vector<PodPtr>& pods, const std::vector<Slice>& slices);

  /// The values of a node label, in order.
  [[nodiscard]] std::vector<std::string> domains(const std::string& topology_key);
  [[nodiscard]] Verdict judge(const Wish& wish, const std::string& domain);
  /// The node of each host of a slice that has this domain, several hosts on one where nodes have more chips than a pod
  /// wants. Empty where pods of the slice choose nodes in different ways, so that it matters which goes where.
  [[nodiscard]] std::vector<std::string> nodes_by_host(const Wish& wish, const std::string& domain);
  /// Nodes of the domain that nothing uses.
  [[nodiscard]] std::size_t free_nodes(const std::string& topology_key, const std::string& domain);

  /// From now on the domain's free nodes are `user`'s: "default/train-0".
  void take(const std::string& topology_key, const std::string& domain, const std::string& user);
  /// The same, until its other nodes are free too.
  void keep(const std::string& topology_key, const std::string& domain, const std::string& user);
  /// Undoes a take or keep.
  void give_back(const std::string& topology_key, const std::string& domain, const std::string& user);

 private:
  struct Place {
    NodePtr node;
    std::string user;   ///< Slice or pod that uses it, or whose it will be; empty for a free node.
    bool kept = false;  ///< For `user`, who does not use it yet.
  };
  using Places = std::vector<Place*>;
  using Domains = std::map<std::string, Places>;

  const Domains& grouped(const std::string& topology_key);
  const Places& places_of(const std::string& topology_key, const std::string& domain);
  void claim(const Slice& slice);
  void take(const std::string& topology_key, const std::string& domain, const std::string& user, bool kept);

  std::map<std::string, Place> places_;  ///< By node name.
  std::map<std::string, Domains> by_key_;
};

/// The domain that a live, ungated host of several holds, whether or not it has a node yet: where its node is, or where
/// it has been sent. Empty where that is open.
[[nodiscard]] std::string domain_of(const PodView& pod, const std::string& topology_key, const NodeView* node);

/// "node pool" for GKE's label, else "value of <label>"; in the plural unless `count` is 1.
[[nodiscard]] std::string domain_noun(const std::string& topology_key, std::size_t count = 1);

}  // namespace tpuslice::slice
