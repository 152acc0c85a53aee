// PodFacts: what the mutation of a pod and the warnings about it depend on, read from the pod once.
#pragma once

#include <optional>
#include <vector>

#include "tpu/identity.h"
#include "tpu/rules/workload_kinds.h"

namespace tpuslice::rules {

struct PodFacts {
  const WorkloadKind* kind = nullptr;             ///< Null: a pod of no kind.
  std::optional<tpu::SliceIdentity> identity;     ///< Nothing: not a host of a slice.
  std::vector<tpu::TpuContainer> tpu_containers;  ///< Without init containers; none if a quantity is malformed.
  bool asks_for_tpus = false;                     ///< A container does, even with a malformed quantity.
};

/// The facts of a pod, whose kind is kind_of_pod(). Errors: as identify_pod().
[[nodiscard]] Result<PodFacts> read_pod_facts(const Json& pod, const WorkloadKind* kind);

}  // namespace tpuslice::rules
