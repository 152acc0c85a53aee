// The children of a DisaggregatedSet as they are created. Fields that others may change are not restored.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "api/types/typed.h"
#include "controllers/disaggregatedset/role_sets.h"
#include "controllers/disaggregatedset/rules/spec.h"

namespace tpuslice::disaggregatedset {

/// Builds LeaderWorkerSets when they are sent, so it outlives the observation. Thread-safe.
class SetBuilder {
 public:
  SetBuilder(Typed<DisaggregatedSetSpec> set, std::string revision)
      : set_(std::move(set)), revision_(std::move(revision)) {}

  /// The LeaderWorkerSet of the role with this index in the spec: its metadata and spec, our labels, also on the pods,
  /// and the affinity of the placement policy.
  [[nodiscard]] Json build(std::size_t role, std::int64_t slice, std::int64_t replicas) const;

 private:
  const Typed<DisaggregatedSetSpec> set_;
  const std::string revision_;
};

/// The scaler of a role, with the replicas that it begins with.
[[nodiscard]] Json build_scaler(const DisaggregatedSetSpec& spec, const std::string& role, std::int64_t replicas);

/// The headless service of the pods of a LeaderWorkerSet. Pods of one that was made before there were slices have no
/// label of a slice.
[[nodiscard]] Json build_service(const DisaggregatedSetSpec& spec, const RoleSet& set);

/// "disaggregatedset.x-k8s.io/name=llm,...": one pod, the leader, of each replica of the role, of all revisions.
[[nodiscard]] std::string scaler_selector(const DisaggregatedSetSpec& spec, std::string_view role);

}  // namespace tpuslice::disaggregatedset
