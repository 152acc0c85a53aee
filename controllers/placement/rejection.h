// Rejection: what follows for a slice from placements that kube-scheduler rejected. Pure.
//
// A rejected placement costs the workload a restart. So the slice is not placed in that domain again for ten minutes,
// then twenty and so on, unless one of its nodes changes; and the more domains reject it one after the other, the
// longer it waits before the next.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/placement/domains/domains.h"
#include "controllers/placement/slices.h"

namespace tpuslice::placement {

struct RejectionsOfDomain {
  int times = 0;
  Timestamp last;
  bool changed = false;  ///< A node of the domain has changed since.
};

/// The placements of a slice that were rejected.
struct Rejections {
  plan::ObjectReference workload;
  std::map<DomainName, RejectionsOfDomain> domains;
  int times = 0;  ///< In all domains, one after the other.
  Timestamp last;
  DomainName last_domain;
  std::string reason;  ///< kube-scheduler's, of the last one.
};

/// By slice.
using RejectedSlices = std::map<ObjectKey, Rejections>;

/// The slice is not placed in the domain before: after 10 min, doubled by each further rejection, at most 2 h; at once
/// if the domain has changed.
[[nodiscard]] Timestamp excluded_until(const RejectionsOfDomain& of);
/// The slice is not placed anywhere before: at once after the first, then after 1 min, doubled by each further
/// rejection, at most 30 min; at once if one of the domains has changed.
[[nodiscard]] Timestamp held_until(const Rejections& of);
/// After it all is forgotten.
[[nodiscard]] Timestamp forgotten_at(const Rejections& of);

/// What is known of the slice, if that was of the same workload; null otherwise. `all` may be null.
[[nodiscard]] const Rejections* rejections_of(const Slice& slice, const RejectedSlices* all);
/// The domains of the slice's topology key that are excluded at `now`; `changes_at` is set to when that ends, if
/// earlier.
void add_excluded(const Slice& slice, const RejectedSlices* all, Timestamp now, ExcludedDomains& excluded,
                  std::optional<Timestamp>& changes_at);
/// Why the slice is not placed anywhere at `now`; nothing if it may be.
[[nodiscard]] std::optional<slice::Hold> hold_of_rejected(const Slice& slice, const RejectedSlices* all, Timestamp now);

}  // namespace tpuslice::placement
