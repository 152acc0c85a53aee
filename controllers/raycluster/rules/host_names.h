// Names of the slices of a RayCluster and of the DNS records of their hosts: the controller creates services and pods
// with these names, and admission computes the same.
#pragma once

#include <string>
#include <string_view>

#include "tpu/naming.h"

namespace tpuslice::raycluster {

/// Headless service of a RayCluster's workers: "<cluster>-headless". RayCluster names have at most 53 characters, so it
/// is always a valid DNS label and never truncated (different truncation in two programs broke DNS upstream).
[[nodiscard]] std::string ray_headless_service(std::string_view cluster);

/// Hostnames of a RayCluster's slice: "<group>-<replica>-<host>", valid DNS labels even for the longest group and a
/// host of five digits.
[[nodiscard]] tpu::HostNames ray_worker_hostnames(std::string_view group, int replica);

/// TPU_NAME of a RayCluster slice: "<group>-<replica>".
[[nodiscard]] std::string ray_slice_name(std::string_view group, int replica);

}  // namespace tpuslice::raycluster
