// A cluster reduced to what the slice controllers read: pods, nodes, and the other writers (workload controllers,
// kube-scheduler, kubelets, node repair), one small step at a time. Fast enough for a hundred thousand histories;
// cmd/tpu-slice-sim simulates the whole cluster.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/random.h"
#include "controllers/placement/preemption_budget.h"
#include "controllers/slice/slice.h"

namespace tpuslice::testing {

using slice::NodePtr;
using slice::PodPtr;

inline constexpr const char* kPool = "cloud.google.com/gke-nodepool";
/// Two neighbouring pools make up one domain of this key.
inline constexpr const char* kDoublePool = "example.com/double-pool";
inline constexpr const char* kAccelerator = "tpu-v6e-slice";

/// How the controller of a slice creates pods and replaces lost ones.
enum class Owner {
  kReplica,          ///< All at once; if one is lost it deletes the others, and recreates all once they are deleted.
                     ///< RayCluster.
  kJob,              ///< Each index independently.
  kFollowsHostZero,  ///< Host 0; the others once it has a node. JobSet with exclusive topology.
  kReadyLeader,      ///< Host 0; the others once it runs. LeaderWorkerSet with startupPolicy LeaderReady.
};

struct DesiredSlice {
  std::string name;
  Owner owner = Owner::kReplica;
  int hosts = 1;
  std::string topology_key = kPool;
  std::string gang;
  int gang_slices = 1;
  int priority = 0;
  /// Another controller chooses the nodes, as Kueue's Topology Aware Scheduling does: it removes a gate of its own.
  bool queued = false;
  std::optional<std::int64_t> deadline_seconds = {};
  bool deleted = false;
  /// The API server refuses updates of its pods, as with an admission policy of their namespace; not deletions.
  bool refused = false;
};

using RecordsPtr = std::shared_ptr<const placement::PreemptionRecords>;

/// A watch event. A null pod or node is a deletion.
struct Change {
  std::uint64_t version = 0;
  ObjectKey key;
  bool node = false;
  PodPtr pod_after;
  NodePtr node_after;
  RecordsPtr records_after = {};  ///< Set: only the ConfigMap with the records of preemptions has changed.
};

class World {
 public:
  World(std::uint64_t seed, int pools, int hosts_per_pool);

  [[nodiscard]] Timestamp now() const { return now_; }
  void advance(Duration by) { now_ += by; }
  [[nodiscard]] const std::map<ObjectKey, PodPtr>& pods() const { return pods_; }
  [[nodiscard]] const std::map<std::string, NodePtr>& nodes() const { return nodes_; }
  [[nodiscard]] const RecordsPtr& preemption_records() const { return preemption_records_; }
  /// When slices were preempted.
  [[nodiscard]] std::vector<Timestamp>& preemptions() { return preemptions_; }
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }
  [[nodiscard]] std::vector<DesiredSlice>& desired() { return desired_; }
  [[nodiscard]] const std::vector<DesiredSlice>& desired() const { return desired_; }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] std::uint64_t version() const { return changes_.size(); }

  /// As the API server: Conflict if a precondition does not hold, Forbidden for updates of pods of refused slices.
  Status apply(const plan::Action& action);

  // Steps of the other components; true if they did anything.
  bool owners_step();
  bool scheduler_step();
  bool kubelets_step();
  /// An Unschedulable pod brings a whole pool that has no nodes.
  bool autoscaler_step();
  /// Chooses nodes for the pods of queued slices: a free pool, or, for one in four, nodes of several. Slices that have
  /// not started a minute later are evicted and queued again.
  bool queue_step();

  // Disturbances.
  void add_slice(DesiredSlice slice);
  void fail_pod(const PodPtr& pod);
  void delete_pod(const PodPtr& pod);
  void set_ready(const std::string& node, bool ready);
  void cordon(const std::string& node, bool unschedulable);
  void set_chips(const std::string& node, int chips);
  void delete_node(const std::string& node);
  void restore_node(const std::string& node);
  /// The autoscaler removes the pool, if no pod uses it.
  void remove_unused_pool(const std::string& pool);
  /// A pod that uses a node's chips. `labelled`: it was admitted.
  void add_stray_pod(const std::string& node, bool labelled);
  void delete_stray_pods();
  void set_refused(DesiredSlice& desired, bool refused);

  [[nodiscard]] const std::vector<std::string>& pool_nodes(const std::string& pool) const { return pools_.at(pool); }
  [[nodiscard]] const std::map<std::string, std::vector<std::string>>& pools() const { return pools_; }
  /// Live pods of the slice by host index; null if missing.
  [[nodiscard]] std::vector<PodPtr> live_hosts(const DesiredSlice& desired) const;
  [[nodiscard]] std::int64_t used_chips(const std::string& node) const;
  /// Without those of scouts.
  [[nodiscard]] bool is_used(const std::string& node) const;
  [[nodiscard]] bool is_absent(const std::string& pool) const;

  void note(std::string line);
  [[nodiscard]] const std::string& timeline() const { return timeline_; }
  bool with_timeline = false;  ///< Record a timeline.

 private:
  void put(PodView pod);
  void put(NodeView node);
  void erase_pod(const ObjectKey& key);
  void edit(const ObjectKey& key, const std::function<void(PodView&)>& change);
  void create(const DesiredSlice& desired, int host);
  bool owner_step(const DesiredSlice& desired);
  Status create_scout(const plan::Action& action);
  Status apply_to_records(const plan::Action& action);
  bool choose_nodes(const DesiredSlice& desired);
  bool evict(const DesiredSlice& desired);
  [[nodiscard]] bool fits(const PodView& pod, const NodeView& node) const;
  [[nodiscard]] bool affinities_hold(const PodView& pod, const NodeView& node) const;
  NodeView make_node(const std::string& name, const std::string& pool) const;

  Random random_;
  Timestamp now_;
  const Timestamp start_;
  std::map<ObjectKey, PodPtr> pods_;
  std::map<std::string, NodePtr> nodes_;
  std::map<std::string, std::vector<std::string>> pools_;
  std::map<std::string, std::string> double_pools_;
  RecordsPtr preemption_records_;
  std::vector<Timestamp> preemptions_;
  std::vector<DesiredSlice> desired_;
  std::vector<Change> changes_;
  std::map<ObjectKey, std::string> scout_keys_;  ///< The topology key of each scout's anti-affinity.
  std::map<std::string, Timestamp> chosen_at_;   ///< When the nodes of a queued slice were chosen.
  std::uint64_t uids_ = 0;
  std::string timeline_;
};

}  // namespace tpuslice::testing
