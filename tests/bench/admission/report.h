// The tables that `make bench-admission` prints and docs/performance.md records.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/bench/admission/https_load.h"
#include "tests/bench/admission/mutator_load.h"

namespace tpuslice::bench {

struct AdmissionMeasurements {
  std::size_t review_bytes = 0;
  std::optional<MutatorFigures> mutator;
  std::vector<HttpsFigures> https;
  std::vector<HttpsFigures> tpu_webhook;  ///< Likewise, in the same run; empty if it does not run.
  std::optional<RotationFigures> rotation;
  double others = 0;  ///< Share of the machine that other programs used.
};

/// Markdown.
[[nodiscard]] std::string to_table(const AdmissionMeasurements& measurements);

}  // namespace tpuslice::bench
