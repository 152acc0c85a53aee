// The attacks: what one tenant, with permission to create workloads and pods in its namespace and to reach the webhook,
// can try.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/e2e/attacks/attack_plane.h"

namespace tpuslice::testing {

/// Far below the memory limit of deploy/operator, 512 MiB.
inline constexpr double kMaxMebibytes = 96;
/// With all connections and bytes of all servers in use.
inline constexpr double kMaxMebibytesOfCrowds = 160;

struct Attack {
  std::string name;
  /// Returns the message to the tenant: the error of the API server, or a condition or an event of the object.
  std::function<std::string(AttackPlane& plane)> run;
  std::string message;  ///< Part of that.
};
inline void PrintTo(const Attack& attack, std::ostream* out) { *out << attack.name; }

/// Through CRDs and webhooks, as installed.
[[nodiscard]] std::vector<Attack> attacks_on_admission();
/// Pods with long names, through the mutating webhook.
[[nodiscard]] std::vector<Attack> attacks_with_long_names();
/// Many clients of the operator's ports, from many addresses; the message is about another client meanwhile.
[[nodiscard]] std::vector<Attack> attacks_of_crowds();
/// Objects that admission did not check.
[[nodiscard]] std::vector<Attack> attacks_on_controllers();

}  // namespace tpuslice::testing
