// Interruptions for tests of the history.
#pragma once

#include <string>

#include <fmt/format.h>

#include "controllers/plan/interruption.h"
#include "tests/support/slice/slices.h"

namespace tpuslice::history {

/// Slice v6e-0 of RayJob ml/train: its placement `number` was interrupted after `when`.
inline plan::Interruption an_interruption(int number = 0, Duration when = {}) {
  plan::Interruption out;
  out.time = slice::after(when);
  out.workload = {"ray.io/v1", "RayJob", {"ml", "train"}, "uid-of-train", {}};
  out.slice = {"ml", "train-v6e-0-x1"};
  out.slice_name = "v6e-0";
  out.placement = fmt::format("members-{}", number);
  out.what = plan::kTornDown;
  out.code = "PodLost";
  out.why = "pod train-2 failed on node a-2: container ray-worker: OOMKilled, exit code 137";
  out.host = 2;
  out.container = "ray-worker";
  out.exit_code = 137;
  out.node = "a-2";
  out.pool = "a";
  out.accelerator = "tpu-v6e-slice";
  out.host_seconds = 5280;
  return out;
}

}  // namespace tpuslice::history
