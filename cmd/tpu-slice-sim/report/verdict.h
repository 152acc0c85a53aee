// Verdict: what became of the pods, in a line for each slice that waits or has failed, and a sentence.
#pragma once

#include <string>
#include <vector>

#include "api/base/clock.h"
#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice {

struct Verdict {
  std::vector<std::string> lines;  ///< "waits: slice tpu-0 (16 hosts): no node pool of tpu-v6e-slice 8x8; ..."
  std::string sentence;            ///< "1 of 2 slices and 1 of 1 other pod run"; empty without pods.
  bool all_run = true;
};

/// Pods that have succeeded count as running.
[[nodiscard]] Verdict judge(const std::vector<sim::JsonPtr>& pods);

/// Whether the operator will say of a slice why it waits: some of its pods is gated and younger than that takes, and
/// none has a waiting reason.
[[nodiscard]] bool awaits_reason(const std::vector<sim::JsonPtr>& pods, Timestamp now);

}  // namespace tpuslice
