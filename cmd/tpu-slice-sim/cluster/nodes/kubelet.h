// Kubelet: runs the pods of every node of the cluster through their stages, in simulated time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "cmd/tpu-slice-sim/cluster/change_feed.h"
#include "cmd/tpu-slice-sim/cluster/nodes/pod_stages.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

/// With "false" in this annotation, the node's kubelet does nothing.
inline constexpr std::string_view kNodeReadyAnnotation = "sim.tpuslice.dev/ready";

/// One object for all nodes. Not thread-safe.
class Kubelet {
 public:
  Kubelet(Registry& registry, KubeletOptions options);

  /// Applies the stages that are due. True if it wrote anything.
  bool step(Instant now);
  /// When the next stage is due.
  [[nodiscard]] std::optional<Instant> next_due() const;

 private:
  struct Run {
    JsonPtr pod;
    std::string stage;  ///< Empty if there is no next stage.
    Instant due;
    bool blocked = false;  ///< Waits for the head of its Ray cluster.
  };
  struct Machine {
    std::string address;
    std::string pod_network;  ///< "10.64.3."
    int last_address = 1;
    bool lost = false;
  };

  void observe(const Change& change, Instant now);
  void observe_node(const Change& change, Instant now);
  void plan(const ObjectKey& key, Instant now);
  void unplan(const ObjectKey& key);
  void plan_blocked(Instant now);
  bool carry_out(const ObjectKey& key);
  bool remove(const ObjectKey& key, const std::string& uid);
  [[nodiscard]] bool head_ready(const Json& pod) const;
  [[nodiscard]] Duration stretched(const ObjectKey& key, const Stage& stage) const;
  [[nodiscard]] std::string next_address(Machine& machine) const;

  Registry& registry_;
  const KubeletOptions options_;
  ChangeFeed feed_;
  std::map<ObjectKey, Run> pods_;
  std::map<std::string, Machine> nodes_;
  std::set<std::pair<Instant, ObjectKey>> queue_;
  std::set<ObjectKey> blocked_;
  bool heads_changed_ = false;  ///< A pod became Ready or a service changed: blocked pods are checked again.
};

}  // namespace tpuslice::sim
