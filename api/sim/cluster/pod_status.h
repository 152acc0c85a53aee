// PodStatus: the changes a kubelet makes to the status of a pod, each a small function on its JSON.
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

/// What status.containerStatuses (or initContainerStatuses) says of a container.
[[nodiscard]] ContainerSeen seen(const Json& pod, std::string_view container, bool init = false);

/// The pod was taken on by its node: start time, addresses of the host, every container waiting.
void admit(Json& pod, const std::string& host_ip, Timestamp now);
/// The pod has its network.
void give_address(Json& pod, const std::string& ip);

void wait(Json& pod, std::string_view container, bool init, const std::string& reason, const std::string& message);
/// Starts it, or starts it again: then the restart count goes up and the last state is kept.
void run(Json& pod, std::string_view container, bool init, Timestamp now);
void terminate(Json& pod, std::string_view container, bool init, int exit_code, Timestamp now);
/// As the readiness probe found it.
void set_ready(Json& pod, std::string_view container, bool ready);

/// Derives phase and the conditions Initialized, ContainersReady and Ready from the containers.
void conclude(Json& pod, Timestamp now);

/// Names of spec.containers, or of spec.initContainers.
[[nodiscard]] std::vector<std::string> container_names(const Json& pod, bool init = false);

/// A node lost or an operator of the simulation ended it: phase Failed, every container terminated.
void fail(Json& pod, int exit_code, const std::string& reason, const std::string& message, Timestamp now);

}  // namespace tpuslice::sim
