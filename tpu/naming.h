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

  /// The name without the subdomain.
  [[nodiscard]] std::string of(int host) const;
  void append_to(std::string& text, int host) const;
  /// Bytes of the names of the first `hosts` hosts together.
  [[nodiscard]] std::int64_t total_size(int hosts) const;
};

/// Hostnames of the pods of an Indexed Job or of a StatefulSet, from pod `first` on: "<name>-<number>".
/// Source: the Job controller sets pod.spec.hostname so; the StatefulSet controller to the pod's name.
[[nodiscard]] HostNames numbered_hostnames(std::string_view name, int first);

}  // namespace tpuslice::tpu
