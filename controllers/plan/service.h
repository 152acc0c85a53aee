// The services of a workload: whether the live one has what the desired one says, and what to do if not.
#pragma once

#include <string>

#include "api/types/views.h"

namespace tpuslice::plan {

struct ServiceDecision {
  enum class Kind : std::uint8_t {
    kNone,      ///< The live service will do.
    kCreate,    ///< There is none.
    kPatch,     ///< It drifted: apply `patch`.
    kWait,      ///< It is being deleted, or the garbage collector will delete it: create it again then.
    kConflict,  ///< It is not owned by the workload, or not headless, so it cannot be used.
  };
  Kind kind = Kind::kNone;
  Json patch = {};  ///< kPatch: a merge patch.
  std::string conflict =
      {};  ///< kConflict: "service default/train belongs to JobSet other"; the remedy is the caller's.
};

/// A headless service, which gives pods their DNS names. A service of another owner will do if it is headless, has the
/// same selector, and publishes the addresses of pods that are not ready if `desired` does. `live`: the service of the
/// same name, of any owner; null without.
[[nodiscard]] ServiceDecision decide_headless_service(const Json& desired, const ServiceView* live);

/// A service that clients connect to: ports and labels are restored as well, node ports are kept, and a service of
/// another owner is a conflict.
[[nodiscard]] ServiceDecision decide_service(const Json& desired, const ObjectView* live);

}  // namespace tpuslice::plan
