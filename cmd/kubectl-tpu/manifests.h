// Manifests of workloads, made from a few choices. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"
#include "tpu/catalog.h"

namespace tpuslice::plugin {

/// A shape of slices: "v6e-4x4".
struct SliceShape {
  const tpu::Accelerator* accelerator = nullptr;
  tpu::Topology topology = tpu::Topology::of(1, 1);
  std::int64_t chips_per_host = 0;
  int hosts = 0;
};

/// Reads "v6e-4x4", "v5p:2x2x4" or "tpu-v6e-slice 4x4". Errors: InvalidArgument with the generations, or the
/// topologies, that exist.
[[nodiscard]] Result<SliceShape> parse_slice_shape(std::string_view text);

struct ManifestOptions {
  std::string name;
  std::string namespace_name;  ///< Empty: none is written.
  SliceShape shape;
  int slices = 1;
  std::string image;
  std::vector<std::string> command;
};

/// Kinds of make_manifest(): "job", "jobset", "raycluster" and "lws".
[[nodiscard]] const std::vector<std::string>& manifest_kinds();

/// The objects of the workload, the workload last. Errors: InvalidArgument for an unknown kind, a name that is too long
/// for the kind, and several slices of a Job.
[[nodiscard]] Result<std::vector<Json>> make_manifest(std::string_view kind, const ManifestOptions& options);

}  // namespace tpuslice::plugin
