// Pods of slices as the simulated API server has them, for tests of what is printed about them.
#pragma once

#include <memory>
#include <string>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice {

/// Host `index` of slice train-0, which has two hosts; gated, as admission leaves it.
inline Json host_pod(int index) {
  return {{"metadata",
           {{"name", fmt::format("train-0-{}", index)},
            {"namespace", "default"},
            {"creationTimestamp", "2026-01-01T00:00:00Z"},
            {"labels", {{"tpuslice.dev/slice", "train-0"}}},
            {"annotations", {{"tpuslice.dev/slice-hosts", "2"}, {"tpuslice.dev/slice-host", std::to_string(index)}}}}},
          {"spec", {{"schedulingGates", Json::array({{{"name", "tpuslice.dev/slice"}}})}}},
          {"status", {{"phase", "Pending"}}}};
}

/// The same, Ready on a node of pool v6e-a.
inline Json ready_pod(int index) {
  Json pod = host_pod(index);
  pod["metadata"]["annotations"]["tpuslice.dev/placed-in"] = "v6e-a";
  pod["spec"] = {{"nodeName", fmt::format("v6e-a-{}", index)}};
  pod["status"] = {{"phase", "Running"}, {"conditions", Json::array({{{"type", "Ready"}, {"status", "True"}}})}};
  return pod;
}

inline sim::JsonPtr stored(Json json) { return std::make_shared<const Json>(std::move(json)); }

}  // namespace tpuslice
