// PodByPodPolicy: kube-scheduler without gates. Pods get nodes one by one, in random order within a priority, since
// those that did not fit are retried after back-offs of different lengths. Affinity keeps the hosts of a slice in one
// domain, anti-affinity other slices out of it, as with the exclusive placement of JobSet. What a slice has got it
// keeps: it may wait for the rest for ever, and so may the slices of a multislice for each other.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/bench/fleet/draws.h"
#include "tests/bench/fleet/policy.h"

namespace tpuslice::fleet_bench {

class PodByPodPolicy final : public Policy {
 public:
  PodByPodPolicy(FleetRun& run, std::uint64_t seed) : Policy(run), draws_(seed, "pod by pod") {}
  void plan() override;

 private:
  /// Slices whose pods may get nodes, in the order in which they are tried.
  [[nodiscard]] std::vector<std::pair<int, int>> slices_in_order();
  void bind_pods(int job, int slice);
  /// The domain of the slice's pods, or a random one for its first pod; -1: none.
  [[nodiscard]] DomainId domain_for(int job, int slice);
  /// Some nodes are usable, and no slice has any of them or holds a domain that overlaps.
  [[nodiscard]] bool may_begin(DomainId domain) const;
  [[nodiscard]] DomainId domain_of(const HostRef& host) const;

  Draws draws_;
};

}  // namespace tpuslice::fleet_bench
