#include "cmd/tpu-slice-operator/kinds.h"

#include <array>
#include <vector>

#include "controllers/disaggregatedset/disaggregatedset_kind.h"
#include "controllers/jobset/jobset_kind.h"
#include "controllers/leaderworkerset/leaderworkerset_kind.h"
#include "controllers/raycluster/raycluster_kind.h"
#include "controllers/raycronjob/raycronjob_kind.h"
#include "controllers/rayjob/rayjob_kind.h"
#include "controllers/rayservice/rayservice_kind.h"
#include "tests/example_kind/fleet_kind.h"

namespace tpuslice {
namespace {

constexpr std::array kKinds = {
    &leaderworkerset::kKind,
    // A kind is behind those whose objects it owns.
    &disaggregatedset::kKind,
    &raycluster::kKind,
    &rayjob::kKind,
    &raycronjob::kKind,
    &rayservice::kKind,
    &jobset::kKind,
    &example::kKind,
};

std::vector<const rules::WorkloadKind*> all_of_admission() {
  std::vector<const rules::WorkloadKind*> all;
  all.reserve(kKinds.size() + rules::core_kinds().size());
  for (const kind::Kind* each : kKinds) all.push_back(&each->admission);
  for (const rules::WorkloadKind& each : rules::core_kinds()) all.push_back(&each);
  return all;
}

}  // namespace

std::span<const kind::Kind* const> kinds() { return kKinds; }

rules::WorkloadKinds admission_kinds() {
  static const std::vector<const rules::WorkloadKind*> kAll = all_of_admission();
  return kAll;
}

}  // namespace tpuslice
