// Names of slices and of the DNS records of their hosts, for controllers that create services and pods and for the
// webhook, which must compute the same names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/base/result.h"

namespace tpuslice::tpu {

/// Whether a text that becomes part of the names of all hosts, and of variables of each container, is a DNS label,
/// which has at most 63 characters. Admission runs before the API server validates a pod, so that a name can be as long
/// as a request. An empty text passes. Errors: InvalidArgument naming the field at `path`.
[[nodiscard]] Status check_host_part(std::string_view path, std::string_view text);

/// Hostnames of the hosts of one slice, a prefix and a number: "g-1-0", "g-1-1", ...
struct HostNames {
  std::string first;   ///< Host 0, if it has another form (a LeaderWorkerSet's leader).
  std::string prefix;  ///< "g-1-"
  int offset = 0;      ///< Number of host 0.

  /// Without the subdomain.
  [[nodiscard]] std::string of(int host) const;
  void append_to(std::string& text, int host) const;
  /// Bytes of the names of the first `hosts` hosts together.
  [[nodiscard]] std::int64_t total_size(int hosts) const;
};

/// Headless service of a RayCluster's workers: "<cluster>-headless". RayCluster names have at most 53 characters, so it
/// is always a valid DNS label and never truncated (different truncation in two programs broke DNS upstream).
[[nodiscard]] std::string ray_headless_service(std::string_view cluster);

/// Hostnames of a RayCluster's slice: "<group>-<replica>-<host>", valid DNS labels even for the longest group and a
/// host of five digits.
[[nodiscard]] HostNames ray_worker_hostnames(std::string_view group, int replica);

/// TPU_NAME of a RayCluster slice: "<group>-<replica>".
[[nodiscard]] std::string ray_slice_name(std::string_view group, int replica);

/// Hostnames of the pods of an Indexed Job or of a StatefulSet, from pod `first` on: "<name>-<number>".
/// Source: the Job controller sets pod.spec.hostname so; the StatefulSet controller to the pod's name.
[[nodiscard]] HostNames numbered_hostnames(std::string_view name, int first);

/// Hostnames of the pods of a LeaderWorkerSet's group, from pod `first` on: the leader's name, then
/// "<leader>-<worker>".
/// Source: LeaderWorkerSet, names of its StatefulSets.
[[nodiscard]] HostNames lws_hostnames(std::string_view leader, int first);

/// Whether the leader of a group of `size` pods joins the first subgroup as one more than `subgroup_size`, so that
/// subgroups are counted from the first worker.
/// Source: LeaderWorkerSet's label subgroup-index: worker w is in subgroup (w - 1) / n then, else in w / n.
[[nodiscard]] constexpr bool lws_leader_is_extra(std::int64_t size, std::int64_t subgroup_size) {
  return (size - 1) % subgroup_size == 0 && size % subgroup_size != 0;
}

}  // namespace tpuslice::tpu
