// The command that grants a right which a user lacks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/base/result.h"

namespace tpuslice::plugin {

/// A refusal of RBAC, as the API server words it.
struct MissingRight {
  std::string user;
  std::string verb;
  std::string resource;        ///< "nodes", "rayclusters"; a path ("/fleet/v1/snapshot") of a non-resource URL.
  std::string group;           ///< "" for the core group.
  std::string namespace_name;  ///< Empty: at the cluster scope.
};

/// Reads: User "jane" cannot list resource "nodes" in API group "" at the cluster scope. Nothing for other texts.
[[nodiscard]] std::optional<MissingRight> parse_missing_right(std::string_view message);

/// The kubectl command with which an administrator grants `right`: a binding of the ClusterRole of this project that
/// has the right, else of a new role.
[[nodiscard]] std::string grant_command(const MissingRight& right);

/// grant_command() for a Forbidden error; empty for others.
[[nodiscard]] std::string grant_for(const Error& error);

}  // namespace tpuslice::plugin
