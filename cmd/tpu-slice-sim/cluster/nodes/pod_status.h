// PodStatus: the changes of a pod's status by its kubelet, one function each.
#pragma once

#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::sim {

enum class ContainerState : std::uint8_t { kAbsent, kWaiting, kRunning, kTerminated };

struct ContainerSeen {
  ContainerState state = ContainerState::kAbsent;
  std::string reason;
  int exit_code = 0;
  int restarts = 0;
  bool ready = false;
  bool started = false;
};

/// The state of a container in status.containerStatuses or initContainerStatuses.
[[nodiscard]] ContainerSeen seen(const Json& pod, std::string_view container, bool init = false);

/// The kubelet accepted the pod: start time, addresses of the host, all containers waiting.
void admit(Json& pod, const std::string& host_ip, Timestamp now);
/// Sets the pod's addresses.
void give_address(Json& pod, const std::string& ip);

void wait(Json& pod, std::string_view container, bool init, const std::string& reason, const std::string& message);
/// Starts or restarts a container; a restart increments the restart count and sets the last state.
void run(Json& pod, std::string_view container, bool init, Timestamp now);
void terminate(Json& pod, std::string_view container, bool init, int exit_code, Timestamp now);
/// Sets the result of the readiness probe.
void set_ready(Json& pod, std::string_view container, bool ready);

/// Derives phase and the conditions Initialized, ContainersReady and Ready from the containers.
void conclude(Json& pod, Timestamp now);

/// Names of spec.containers, or of spec.initContainers.
[[nodiscard]] std::vector<std::string> container_names(const Json& pod, bool init = false);

/// Sets phase Failed and terminates all containers.
void fail(Json& pod, int exit_code, const std::string& reason, const std::string& message, Timestamp now);

}  // namespace tpuslice::sim
