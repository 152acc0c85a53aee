// StatusReport: what the autoscaler reports about itself: its status ConfigMap, and events of pods.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/client/client.h"
#include "tests/support/autoscaler/observed_cluster.h"

namespace tpuslice::testing {

[[nodiscard]] inline ObjectKey autoscaler_status_key() { return {"kube-system", "cluster-autoscaler-status"}; }

struct GroupReport {
  std::string name;
  int min = 0;
  int max = 0;
  int registered = 0;
  int ready = 0;
  int target = 0;
  bool in_backoff = false;
  bool unneeded = false;
};

class StatusReport {
 public:
  StatusReport(client::Writer& writer, const Clock& clock) : writer_(writer), clock_(clock) {}

  /// Creates or updates the ConfigMap; its annotation says when.
  Status write(int nodes, const std::vector<GroupReport>& groups);
  Status remove();
  /// Event TriggeredScaleUp: the group got `size` nodes.
  Status pod_triggered(const ObservedPod& pod, const std::string& group, int size);
  /// Event NotTriggerScaleUp, once for each set of reasons of the pod.
  Status pod_not_triggered(const ObservedPod& pod, const std::map<std::string, int>& reasons);

 private:
  Status record(const ObservedPod& pod, const std::string& reason, const std::string& message);

  client::Writer& writer_;
  const Clock& clock_;
  std::map<std::string, std::string> last_;  ///< Reason and message of the last event by uid of the pod.
  int events_ = 0;
};

}  // namespace tpuslice::testing
