// Names of slices and of the DNS records of their hosts. One place: controllers create services and pods by these
// names, the webhook computes the same ones.
#pragma once

#include <string>
#include <string_view>

namespace tpuslice::tpu {

/// Headless service of a RayCluster's workers: "<cluster>-headless". RayCluster names have at most 53 characters, so it
/// is always a legal DNS label and never cut (cutting it in one program and not in the other broke DNS upstream).
[[nodiscard]] std::string ray_headless_service(std::string_view cluster);

/// Hostname of one worker of a RayCluster: "<group>-<replica>-<host>", a legal DNS label even for the longest group.
[[nodiscard]] std::string ray_worker_hostname(std::string_view group, int replica, int host);

/// TPU_NAME of a RayCluster slice: "<group>-<replica>".
[[nodiscard]] std::string ray_slice_name(std::string_view group, int replica);

}  // namespace tpuslice::tpu
