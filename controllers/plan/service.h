// The services of a workload: whether the live one has what the desired one says, and what to do if not.
#pragma once

#include <string_view>
#include <vector>

#include "controllers/plan/child.h"

namespace tpuslice::plan {

/// The workloads of `kind` that a change of the service concerns: its controller, and the one that `label` of its
/// selector names, since a service of another owner may have the name that a workload needs.
[[nodiscard]] std::vector<ObjectKey> workloads_of(const ServiceView& service, std::string_view kind,
                                                  std::string_view label);

/// A headless service, which gives pods their DNS names. A service of another owner is accepted if it is headless, has
/// the same selector, and publishes the addresses of pods that are not ready if `desired` does. `live`: the service of
/// the same name, of any owner; null without. Ports, with all members of a ServicePort, are restored only if `desired`
/// has some: addresses of pods do not need them, and users may have added some.
[[nodiscard]] ChildDecision decide_headless_service(const Json& desired, const ServiceView* live);

/// A service that clients connect to: ports and labels are restored as well, node ports are kept, and a service of
/// another owner is a conflict.
[[nodiscard]] ChildDecision decide_service(const Json& desired, const ObjectView* live);

/// The same for a service that a user describes: also restores annotations and those members of the spec that are
/// mutable and that the API server stores unchanged.
[[nodiscard]] ChildDecision decide_described_service(const Json& desired, const ObjectView* live);

}  // namespace tpuslice::plan
