// The `ray start` command line of a Ray container, byte for byte as KubeRay generates it, because tools parse it.
#pragma once

#include <string>
#include <string_view>

#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// Resource names that Ray counts as GPUs: "nvidia.com/gpu" and the like, or an NVIDIA MIG slice such as
/// "nvidia.com/mig-1g.5gb".
[[nodiscard]] inline bool is_gpu_resource(std::string_view name) {
  return name.ends_with("gpu") || (name.starts_with("nvidia.com/mig-") && name.ends_with("gb"));
}

enum class NodeType : std::uint8_t { kHead, kWorker };
[[nodiscard]] std::string_view to_string(NodeType type);

/// rayStartParams with the group's Ray resources and labels, `block`, ports, for workers the address of the head, and
/// the resources of the Ray container.
///
/// `container` is container 0. `address` is "<fqdn>:<port>" of the head; unused for the head itself.
[[nodiscard]] StringMap ray_start_params(const GroupSpec& group, NodeType type, const Json& container,
                                         const std::string& address);

/// "ray start --head  --block  --num-cpus=8 ": flags sorted, `true` as a bare flag, `false` left out.
[[nodiscard]] std::string ray_start_command(const StringMap& params, NodeType type);

/// Sets command and args of the Ray container to run `ray_start`, after the user's command if there is one. Does not
/// change a command that contains "ray start", nor any if `overwrite` is false.
void set_ray_command(Json& container, const std::string& ray_start, bool overwrite);

}  // namespace tpuslice::raycluster
