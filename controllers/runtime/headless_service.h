// The headless service that gives the pods of a workload their DNS names: what a live one lacks.
#pragma once

#include <string>

#include "api/types/views.h"

namespace tpuslice::runtime {

/// What may change of it, and is the workload's to say.
struct HeadlessService {
  StringMap selector;
  bool publish_not_ready = true;  ///< spec.publishNotReadyAddresses
};

/// The merge patch that makes `live` say so again; null if nothing drifted. Whether it is headless, nobody can change.
[[nodiscard]] Json restore_service(const HeadlessService& wanted, const ServiceView& live);

/// "belongs to JobSet train", "has no controller".
[[nodiscard]] std::string describe_owner(const ServiceView& live);

}  // namespace tpuslice::runtime
