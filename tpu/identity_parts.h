// Helpers of the identity readers of all kinds. Internal to tpu/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tpu/identity.h"
#include "tpu/slice_shape.h"

namespace tpuslice::tpu {

using MaybeIdentity = std::optional<SliceIdentity>;

/// "metadata.labels[ray.io/group]"
[[nodiscard]] std::string label_path(std::string_view label);
[[nodiscard]] std::string annotation_path(std::string_view annotation);

/// The number in a label or an annotation; nothing where it is absent. Errors: InvalidArgument naming it.
[[nodiscard]] Result<std::optional<int>> index_label(const Json& pod, std::string_view label);
[[nodiscard]] Result<std::optional<int>> index_annotation(const Json& pod, std::string_view annotation);

/// The check of check_host_part() (tpu/naming.h) for the value of a label that is part of the names and need not be a
/// DNS label.
[[nodiscard]] Status check_label_part(std::string_view label, std::string_view text);

/// uid of the controller among the pod's owner references; empty without one.
[[nodiscard]] std::string controller_uid(const Json& pod);

/// Sets accelerator and topology; returns the number of hosts of the slice. Errors: InvalidArgument for containers that
/// cannot share a host of that shape.
[[nodiscard]] Result<int> set_shape(SliceIdentity& identity, const SliceShape& shape);

/// "topology 4x4 has 16 chips; with 4 chips per host that is 4 hosts"
[[nodiscard]] std::string describe_hosts(const SliceIdentity& identity, int hosts);

/// The containers with chips of a list of the pod, "containers" or "initContainers".
[[nodiscard]] Result<std::vector<TpuContainer>> pod_containers(const Json& pod, std::string_view list = "containers");

}  // namespace tpuslice::tpu
