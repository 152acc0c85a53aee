// SliceState: where a slice is between the creation of its first pod and the end of its last.
//
//   forming -> ready -> placed -> (all pods succeed)
//                         |
//                         v
//                       broken -> torn down; its controller recreates the pods -> forming
#pragma once

#include <string>

#include "controllers/plan/waiting_code.h"
#include "controllers/slice/slice.h"

namespace tpuslice::slice {

/// The controllers of workloads decide by themselves what is broken, so that they work with --controllers=-slice, too:
/// a RayCluster by replica (raycluster/workers/replicas.h), a LeaderWorkerSet by group
/// (leaderworkerset/groups/restarts.h).
enum class SlicePhase : std::uint8_t {
  kIdle,     ///< No live host.
  kForming,  ///< Pods are missing, or something other than a lack of nodes holds them back.
  kReady,    ///< Waits for nodes only.
  kPlaced,   ///< Host 0 was released, and no pod was lost since.
  kBroken,   ///< It was placed and lost a pod.
  kUngated,  ///< Has live pods that were created without a gate; not placed by us.
};

/// Why a slice waits.
struct WaitingReason {
  plan::WaitingCode code = {};
  std::string text;  ///< Empty: it does not wait.

  /// Whether the pod has it.
  [[nodiscard]] bool is_written(const PodView& pod) const;
};

struct SliceState {
  SlicePhase phase = SlicePhase::kIdle;
  std::string reason;                        ///< Reason of kForming, kBroken and kUngated: one sentence.
  plan::WaitingCode code = {};               ///< The same of kForming and kUngated in one word.
  std::optional<Timestamp> changes_at = {};  ///< When the phase changes without any event.
};

/// `now` matters for Start::kHost0IfAlone and kHostByHost only.
[[nodiscard]] SliceState state_of(const Slice& slice, Timestamp now);

/// "pod train-1 failed on node a-1: container main: OOMKilled, exit code 137"
[[nodiscard]] std::string describe_failed(const PodView& pod);

/// "2 of 4 pods exist; hosts 2, 3 are missing"; empty if all exist.
[[nodiscard]] std::string missing_hosts(const Slice& slice);

/// Host 0 with Start::kHost0IfAlone or kHostByHost, or a companion without hosts, waits this long for further pods.
inline constexpr Duration kMissingPodsTimeout = std::chrono::seconds(10);

}  // namespace tpuslice::slice
