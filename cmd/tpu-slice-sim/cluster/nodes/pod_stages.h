// PodStages: the life of a pod on its node as stages: the next change of its status, and its delay.
//
// The stage depends only on the pod's status, so the kubelet computes it again after any change. Tests and
// demos script faults with annotations on the pod:
//
//   sim.tpuslice.dev/complete-after: 5s     all containers exit with 0, that long after the pod became Ready
//   sim.tpuslice.dev/fail-after: 5s         the first container exits with exit-code, once
//   sim.tpuslice.dev/exit-code: "1"         of fail-after and crash-loop; 1 if absent
//   sim.tpuslice.dev/crash-loop: "true"     the first container exits right after every start
//   sim.tpuslice.dev/never-ready: "true"    the readiness probe never succeeds
//   sim.tpuslice.dev/image-pull-error: "true"   ImagePullBackOff, for ever
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::sim {

struct KubeletOptions {
  std::uint64_t seed = 0;  ///< Not 0: every delay is up to 50 % longer, differently for each pod.
  Duration pull = std::chrono::milliseconds(300);   ///< From binding to the start of the first container.
  Duration init = std::chrono::milliseconds(200);   ///< Run time of an init container.
  Duration start = std::chrono::milliseconds(100);  ///< From the last init container to the containers.
  Duration ready = std::chrono::milliseconds(400);  ///< From start to Ready.
  Duration stop = std::chrono::milliseconds(300);   ///< From the deletion timestamp to the removal.
  Duration back_off = std::chrono::seconds(10);     ///< Before the second restart; doubles each time.
  Duration longest_back_off = std::chrono::minutes(5);
};

/// Input of a stage besides the pod.
struct StageContext {
  Timestamp now;
  std::string host_ip;
  std::string pod_ip;
};

struct Stage {
  std::string name;  ///< Unique among the stages of one pod that can follow each other.
  Duration delay{};
  bool removes = false;         ///< Removes the pod instead of changing its status.
  bool waits_for_head = false;  ///< Starts only when the head of the pod's Ray cluster is Ready.
  std::function<void(Json& pod, const StageContext& context)> apply;
};

/// The next stage of a bound pod; none while it runs and after it finished.
[[nodiscard]] std::optional<Stage> next_stage(const Json& pod, const KubeletOptions& options);

/// The service (namespace, name) whose pod the init container wait-gcs-ready waits for, from its FQ_RAY_IP or, without,
/// from the pod's ray.io/cluster label.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> awaited_head_service(const Json& pod);

}  // namespace tpuslice::sim
