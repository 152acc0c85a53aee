// Comparison: which domains a slice could use if they were free.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "controllers/placement/domains/domains.h"
#include "controllers/placement/domains/node_match.h"

namespace tpuslice::placement {

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

  // Set for a domain with kNone.
  std::int64_t preference = 0;                 ///< PodRequirements::preference() of its first node.
  Capacity capacity = Capacity::kReservation;  ///< The last of its nodes'.
  std::string unhealthy = {};                  ///< unhealthy_partition() of a node.
  std::optional<Timestamp> maintenance = {};   ///< The first scheduled_maintenance() of its nodes.
};

/// Whether the slice could use the domain of these nodes if it were free: kNone, kMismatch or kUnusable. Looks at the
/// labels and taints of every node.
[[nodiscard]] Fit compare(const NodeRequirements& requirements, const std::string& domain,
                          const std::vector<NodeUse*>& nodes);

/// compare() of the same requirements with each domain, again only when its nodes have changed. Not thread-safe.
class Comparison {
 public:
  explicit Comparison(NodeRequirements requirements) : requirements_(std::move(requirements)) {}

  [[nodiscard]] const NodeRequirements& requirements() const { return requirements_; }
  /// Valid until forget_old_results().
  [[nodiscard]] const Fit& with(const std::string& name, const Domain& domain);
  /// Frees what is remembered if most of it must be of domains that are gone. `domains`: the number of those that
  /// exist.
  void forget_old_results(std::size_t domains);
  /// Number of domains whose result is remembered.
  [[nodiscard]] std::size_t size() const { return results_.size(); }

 private:
  static constexpr std::size_t kMinResults = 64;

  struct Compared {
    std::uint64_t revision = 0;  ///< Revision of the domain.
    Fit fit;
  };

  const NodeRequirements requirements_;
  std::unordered_map<const Domain*, Compared> results_;
};

}  // namespace tpuslice::placement
