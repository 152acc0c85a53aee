// ByNamePolicy: whole slices, one at a time; the first free domain by name. Placement worked like this before slices
// kept their place in the queue, domains were chosen by capacity and health, and multislices started together.
#pragma once

#include "tests/bench/fleet/policy.h"

namespace tpuslice::fleet_bench {

class ByNamePolicy final : public Policy {
 public:
  using Policy::Policy;
  void plan() override;
};

}  // namespace tpuslice::fleet_bench
