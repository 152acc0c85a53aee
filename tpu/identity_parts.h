// What the identities of all workloads are made from. Internal to tpu/.
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

/// uid of the controller among the pod's owners; empty without one.
[[nodiscard]] std::string controller_uid(const Json& pod);

/// Takes accelerator and topology into the identity. Errors: InvalidArgument for containers that cannot share a host of
/// that shape; else the number of hosts of the slice.
[[nodiscard]] Result<int> take_shape(SliceIdentity& identity, const SliceShape& shape);

/// "topology 4x4 has 16 chips; with 4 chips per host that is 4 hosts"
[[nodiscard]] std::string describe_hosts(const SliceIdentity& identity, int hosts);

/// One per workload. `containers` is not empty; nothing for a pod that is not of that workload.
[[nodiscard]] Result<MaybeIdentity> identify_ray_worker(const Json& pod, std::vector<TpuContainer> containers);
[[nodiscard]] Result<MaybeIdentity> identify_job_worker(const Json& pod, std::vector<TpuContainer> containers);
[[nodiscard]] Result<MaybeIdentity> identify_stateful_set_worker(const Json& pod, std::vector<TpuContainer> containers);
/// One of the lists is not empty.
[[nodiscard]] Result<MaybeIdentity> identify_lws_worker(const Json& pod, std::vector<TpuContainer> containers,
                                                        std::vector<TpuContainer> init_containers);

}  // namespace tpuslice::tpu
