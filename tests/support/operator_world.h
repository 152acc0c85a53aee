// OperatorWorld: a simulated cluster and its operators, stepped together; base of the worlds of workload kinds.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/base/file.h"
#include "tests/support/operator_harness.h"

namespace tpuslice::testing {

class OperatorWorld {
 public:
  virtual ~OperatorWorld() = default;
  OperatorWorld(const OperatorWorld&) = delete;
  OperatorWorld& operator=(const OperatorWorld&) = delete;

  OperatorHarness& start_operator(OperatorOptions options = {}) {
    operators.push_back(std::make_unique<OperatorHarness>(cluster, clock, std::move(options)));
    return *operators.back();
  }
  void kill_operators() { operators.clear(); }

  /// Steps the operators and checks the invariants. A crashed operator is replaced by one with the options
  /// `replacement`.
  std::optional<Instant> step(Instant now) {
    std::optional<Instant> due;
    for (auto& each : operators) {
      if (each->faults().dead()) each = std::make_unique<OperatorHarness>(cluster, clock, replacement);
      const std::optional<Instant> next = each->step(now);
      if (next) due = due ? std::min(*due, *next) : *next;
    }
    for (std::string& violation : check()) violations.push_back(std::move(violation));
    return due;
  }
  void run_for(Duration duration) {
    cluster.run_for(clock, duration, [this](Instant now) { return step(now); });
  }
  bool run_until(const std::function<bool()>& condition, Duration limit = std::chrono::minutes(10)) {
    return cluster.run_until(clock, limit, condition, [this](Instant now) { return step(now); });
  }

  /// Restores all nodes and replaces the operators by one with the options `replacement`.
  void heal() {
    for (const sim::NodePool& pool : cluster.options().pools) {
      for (int host = 0; host < pool.hosts; ++host) {
        const std::string name = sim::node_name(pool, host);
        if (cluster.get("nodes", {"", name}) == nullptr) require(cluster.restore_node(name));
        require(cluster.set_node_ready(name, true));
        require(cluster.cordon(name, false));
      }
    }
    kill_operators();
    start_operator(replacement);
  }

  [[nodiscard]] std::string pool_of(const Json& pod) const {
    const sim::JsonPtr node = cluster.get("nodes", {"", string_at(pod, {"spec", "nodeName"})});
    return node == nullptr ? "" : string_at(*node, {"metadata", "labels", "cloud.google.com/gke-nodepool"});
  }

  FakeClock clock;
  sim::Cluster cluster;
  std::vector<std::unique_ptr<OperatorHarness>> operators;
  std::vector<std::string> violations;
  OperatorOptions replacement;  ///< Options of an operator that replaces a crashed one.

 protected:
  /// `definition` is the path of the kind's CRD.
  OperatorWorld(sim::ClusterOptions options, const std::string& definition) : cluster(clock, std::move(options)) {
    require(cluster.apply_yaml(read_file(definition).value()));
    require(cluster.apply_yaml("{apiVersion: v1, kind: Namespace, metadata: {name: tpu-slice-system}}"));
  }

  /// Violations since the last call.
  virtual std::vector<std::string> check() = 0;

  static void require(const Status& status) {
    TPUSLICE_CHECK_MSG(status.ok(), status.ok() ? "" : status.error().message());
  }
};

/// Removes fields that differ between two runs with the same final state: uids, times, addresses, node names.
inline void strip_volatile(Json& json) {
  static const std::set<std::string> kVolatile{"startTime",
                                               "startedAt",
                                               "finishedAt",
                                               "completionTime",
                                               "creationTimestamp",
                                               "lastTransitionTime",
                                               "lastUpdateTime",
                                               "containerID",
                                               "podIP",
                                               "podIPs",
                                               "hostIP",
                                               "hostIPs",
                                               "nodeName",
                                               "clusterIP",
                                               "clusterIPs",
                                               "lastProbeTime",
                                               "observedGeneration",
                                               "serviceIP",
                                               "uid",
                                               "stateTransitionTimes"};
  if (json.is_object()) {
    for (auto it = json.begin(); it != json.end();) {
      if (kVolatile.count(it.key()) != 0) {
        it = json.erase(it);
      } else {
        strip_volatile(it.value());
        ++it;
      }
    }
  } else if (json.is_array()) {
    for (Json& entry : json) strip_volatile(entry);
  }
}

}  // namespace tpuslice::testing
