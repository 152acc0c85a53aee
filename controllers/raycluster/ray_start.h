// The `ray start` command line of a Ray container, to the byte what KubeRay generates: tools and users parse it.
#pragma once

#include <string>

#include "controllers/raycluster/spec.h"

namespace tpuslice::raycluster {

enum class NodeType : std::uint8_t { kHead, kWorker };
[[nodiscard]] std::string_view to_string(NodeType type);

/// rayStartParams completed: the group's Ray resources and labels, `block`, ports, and for workers the address of the
/// head; then what the resources of the Ray container imply.
///
/// `container` is container 0. `address` is "<fqdn>:<port>" of the head; unused for the head itself.
[[nodiscard]] StringMap ray_start_params(const GroupSpec& group, NodeType type, const Json& container,
                                         const std::string& address);

/// "ray start --head  --block  --num-cpus=8 ": flags sorted, `true` as a bare flag, `false` left out.
[[nodiscard]] std::string ray_start_command(const StringMap& params, NodeType type);

/// Sets command and args of the Ray container to run `ray_start`, after the user's own command where there is one.
/// A command that contains "ray start" is left alone, as is every command when `overwrite` is false.
void set_ray_command(Json& container, const std::string& ray_start, bool overwrite);

}  // namespace tpuslice::raycluster
