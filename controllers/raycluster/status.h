// The status of a RayCluster: what upstream's has, to the byte, and conditions of ours for what upstream hides.
#pragma once

#include <string>

#include "controllers/raycluster/observed.h"
#include "controllers/raycluster/pods.h"
#include "controllers/raycluster/spec.h"
#include "controllers/raycluster/suspend.h"

namespace tpuslice::raycluster {

/// Only there, with status False, while the spec is refused: reason InvalidSpec or UnsupportedField, and every error.
inline constexpr std::string_view kAccepted = "tpuslice.dev/Accepted";
/// Only there, with status False, while a service cannot be had: reason ServiceConflict or FailedService.
inline constexpr std::string_view kServicesReady = "tpuslice.dev/ServicesReady";

/// Why a spec is not carried out.
struct Refusal {
  std::string reason;  ///< "InvalidSpec"; empty: the spec is accepted.
  std::string message;

  explicit operator bool() const { return !reason.empty(); }
};

struct StatusInput {
  const RayClusterSpec& spec;
  const RayClusterObserved& seen;
  const PodsByType& pods;
  SuspendPhase phase = SuspendPhase::kRunning;
  Refusal refusal;
  std::string service_conflict;
};

/// The whole status. Equal to the one the cluster has unless something changed: time alone changes nothing.
[[nodiscard]] Json build_status(const StatusInput& input);

/// The status of a cluster whose spec is refused: as it was, and why nothing is done.
[[nodiscard]] Json refused_status(const RayClusterObserved& seen, const Refusal& refusal);

/// True if status or message of the condition differ.
[[nodiscard]] bool condition_changed(const Json& before, const Json& after, std::string_view type);

}  // namespace tpuslice::raycluster
