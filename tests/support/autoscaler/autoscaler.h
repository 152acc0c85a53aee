// Autoscaler: a small cluster autoscaler for tests. It adds and removes whole node pools, as GKE's cluster autoscaler
// does with multi-host TPU node pools.
//
//   Autoscaler autoscaler(client, client, clock, {.groups = {node_group(pool)}, .provision_time = 30s});
//   const Instant due = autoscaler.step(clock.now());
//
// Scale-up: pods without a node that kube-scheduler reports as Unschedulable, without nominated node,
// ProvisioningRequest or a priority below -10, are placed one after the other, highest priority first, on the nodes
// that exist, on those that will come, and then on the template nodes of the groups. Node selector, node affinity,
// tolerations, resources and required pod (anti-)affinity count. The first group where a pod fits is scaled up from 0
// to all of its nodes. Its nodes are registered `provision_time` later, not Ready and without chips at first. If it has
// no capacity, the scale-up fails then, and the group is not tried again for a growing time. Queued groups are for
// ProvisioningRequests only (provisioning_requests.h), and wait for capacity.
//
// Scale-down: a group whose nodes have run no pods but those of DaemonSets for `unneeded_time`, and would run none of
// the pending ones, is removed: tainted with ToBeDeletedByClusterAutoscaler, deleted in the next loop. If a node of a
// group was deleted, the others are deleted at once.
//
// Differences from the real one: groups of several nodes are always scaled as a whole, also those without TPUs;
// several groups in one loop; no preemption, no eviction of pods from nodes that are little used; groups are tried in
// their order instead of by an expander; nodes that are not Ready do not stop it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/client/client.h"
#include "tests/support/autoscaler/group_nodes.h"
#include "tests/support/autoscaler/node_group.h"
#include "tests/support/autoscaler/observed_cluster.h"
#include "tests/support/autoscaler/provisioning_requests.h"
#include "tests/support/autoscaler/scale_up_simulation.h"
#include "tests/support/autoscaler/status_report.h"

namespace tpuslice::testing {

struct AutoscalerOptions {
  std::vector<NodeGroup> groups = {};
  Duration provision_time = std::chrono::seconds(1);     ///< From the decision to the registration of the nodes.
  Duration start_time = std::chrono::milliseconds(500);  ///< From then to Ready nodes with chips.
  std::optional<Duration> unneeded_time = {};            ///< Absent: no scale-down, except after a lost node.
  Duration backoff = std::chrono::minutes(5);            ///< After a failed scale-up; doubles with each.
  Duration max_backoff = std::chrono::minutes(30);
  Duration scan_interval = std::chrono::milliseconds(250);
  bool provisioning_requests = false;                ///< Also serve these; the CRD exists (provisioning_request_crd()).
  Duration request_retry = std::chrono::minutes(1);  ///< As ProvisioningRequestOptions::retry.
  Duration request_booking = std::chrono::minutes(10);    ///< As ::booking.
  Duration request_give_up = std::chrono::hours(7 * 24);  ///< As ::give_up.
  int writers = 1;                                        ///< Requests at a time that write nodes.
};

struct AutoscalerCounts {
  int scale_ups = 0;
  int failed_scale_ups = 0;
  int scale_downs = 0;
};

/// Not thread-safe; see AutoscalerThread.
class Autoscaler {
 public:
  /// All references outlive it; a client::Client is both reader and writer.
  Autoscaler(client::Reader& reader, client::Writer& writer, const Clock& clock, AutoscalerOptions options);

  /// Does what is due; returns when it is due again. After an error of the API server, the rest is done in the next
  /// loop; see last_error().
  Instant step(Instant now);
  [[nodiscard]] const Status& last_error() const { return last_error_; }

  /// Whether scale-ups of the group succeed. Errors: NotFound.
  Status set_capacity(const std::string& group, bool capacity);
  /// Deletes all nodes of the groups and the status ConfigMap.
  Status remove_all();
  [[nodiscard]] const AutoscalerCounts& counts() const { return counts_; }

 private:
  enum class Phase : std::uint8_t {
    kEmpty,
    kRequested,   ///< The nodes are registered at `due`.
    kRegistered,  ///< The kubelets are Ready at `due`.
    kJoining,     ///< The nodes have chips at `due`.
    kStarting,    ///< Until all nodes were observed to be Ready with chips.
    kRunning,
    kTainted,  ///< Deleted in the next loop.
  };
  struct GroupState {
    NodeGroup group;
    Phase phase = Phase::kEmpty;
    Instant due = {};
    int failures = 0;
    Instant backoff_until = {};
    std::optional<Instant> unneeded_since = {};
  };

  Status advance(Instant now);
  Status advance_groups(Instant now, Phase from);
  Status scan(Instant now);
  Status handle_lost_nodes(const ObservedCluster& cluster);
  void find_started_groups(const ObservedCluster& cluster);
  void cancel_queued_groups();
  [[nodiscard]] static bool waits_for_capacity(const GroupState& state) {
    return state.phase == Phase::kRequested && state.group.queued && !state.group.capacity;
  }
  [[nodiscard]] ClusterSnapshot snapshot_of(const ObservedCluster& cluster) const;
  [[nodiscard]] std::vector<GroupChoice> choices(Instant now) const;
  Status scale_up(ScaleUpSimulation& simulation, const ObservedCluster& cluster, Instant now);
  Status scale_down(const ClusterSnapshot& snapshot, const ObservedCluster& cluster, Instant now);
  Status delete_group(GroupState& state);
  Status write_status(const ObservedCluster& cluster, Instant now);
  [[nodiscard]] std::optional<Instant> next_due() const;

  const AutoscalerOptions options_;
  client::Reader& reader_;
  GroupNodes nodes_;
  StatusReport report_;
  ProvisioningRequests requests_;
  std::vector<GroupState> groups_;
  Instant next_scan_ = {};
  Instant next_status_ = {};
  AutoscalerCounts counts_;
  Status last_error_;
};

}  // namespace tpuslice::testing
