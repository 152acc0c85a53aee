// Standing: where a slice is between the creation of its first pod and its end.
//
//   forming -> ready -> placed -> (all pods succeed)
//                         |
//                         v
//                       broken -> torn down; its controller creates pods anew -> forming
#pragma once

#include <string>

#include "controllers/slice/slice.h"

namespace tpuslice::slice {

enum class Phase : std::uint8_t {
  kIdle,     ///< No live host.
  kForming,  ///< Some of its pods are missing, or something else holds them back.
  kReady,    ///< Waits for nodes and nothing else.
  kPlaced,   ///< Host 0 has been let go, and nothing has been lost since.
  kBroken,   ///< It was placed, and lost one of its pods.
  kUngated,  ///< Has live pods that never were gated: not ours to place.
};

struct Standing {
  Phase phase = Phase::kIdle;
  std::string why;                           ///< Of kForming, kBroken and kUngated: one sentence.
  std::optional<Timestamp> changes_at = {};  ///< When time alone changes it.
};

/// `now` decides when the first host of a Start::kFirstHostAlone has been alone for long enough.
[[nodiscard]] Standing standing_of(const Slice& slice, Timestamp now);

/// How long after the last pod the first host, or a pod without TPU that starts with the slice, waits for more of them.
inline constexpr Duration kAlone = std::chrono::seconds(10);

}  // namespace tpuslice::slice
