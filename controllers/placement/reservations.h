// Reservations: the domains that waiting gangs keep for themselves while a plan assigns domains (ReservationLimits),
// and which younger slices may use them meanwhile.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controllers/placement/assignment.h"
#include "controllers/placement/domains/candidates.h"

namespace tpuslice::placement {

/// The candidates of each slice; slices with equivalent node requirements have the same.
using CandidatesBySlice = std::map<const Slice*, Candidates*>;

/// A domain, and the candidates that it was taken from.
using CandidateDomain = std::pair<Candidates*, std::string>;

/// Not thread-safe.
class Reservations {
 public:
  /// All references outlive it.
  Reservations(const PlacementRequest& request, Inventory& inventory, const CandidatesBySlice& by_slice)
      : request_(request), inventory_(inventory), by_slice_(by_slice) {}

  /// Reserves domains for the gang, whose slices have candidates. Returns what its waiting reason says about that.
  std::string reserve_for(const Gang& gang, const ExcludedDomains& excluded);
  /// A reserved domain that is not needed before the gang ends, which is then free; empty if there is none.
  std::string take_backfill(const Gang& gang, Candidates& candidates, const ExcludedDomains& excluded);
  /// When the reservations may change without a watch event.
  [[nodiscard]] std::optional<Timestamp> changes_at() const { return changes_at_; }

 private:
  /// Whether the gang fits if all of its usable domains were free, counting the nodes that it has asked for.
  [[nodiscard]] bool fits_empty_cluster(const Gang& gang) const;
  /// Reserves the free nodes of the domain; false if the limits do not allow it.
  bool reserve(const Gang& gang, const CandidateDomain& domain, std::optional<Timestamp> backfill_until);
  /// When the last slice of these domains has ended, or `window_end` if that is earlier; absent if it is unknown.
  [[nodiscard]] std::optional<Timestamp> last_end(const std::vector<CandidateDomain>& domains,
                                                  Timestamp window_end) const;

  const PlacementRequest& request_;
  Inventory& inventory_;
  const CandidatesBySlice& by_slice_;
  std::map<std::string, const Gang*> reserving_gangs_;  ///< By namespace.
  std::size_t reserved_nodes_ = 0;
  std::vector<DomainName> backfill_;  ///< Reserved domains that slices may use if they end in time.
  std::optional<Timestamp> changes_at_;
};

}  // namespace tpuslice::placement
