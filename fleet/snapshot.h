// Snapshot: all that the answers about a fleet are made of, as it was at one time: nodes, pods, workloads and the
// options of the operator. It is read from the lists of an API server, or from a file.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/placement/placement_options.h"
#include "controllers/placement/preemption_budget.h"
#include "controllers/placement/scale_up/provisioning_request.h"
#include "controllers/placement/slices.h"
#include "fleet/history_record.h"
#include "tpu/labels.h"

namespace tpuslice::fleet {

using placement::NodePtr;
using placement::PodPtr;

/// An object that has pods, or other such objects: a RayJob, its RayCluster, a JobSet, a Job.
struct Workload {
  std::string api_version;
  std::string kind;
  ObjectKey key;
  std::string uid;
  std::optional<ControllerRef> controller;
  friend bool operator==(const Workload&, const Workload&) = default;
};

/// The cluster of a snapshot; what is not known is empty.
struct ClusterInfo {
  std::string name;
  std::string kubernetes;  ///< "v1.36.3"
  std::string operator_version;
  std::int64_t replicas = 0;  ///< Replicas of the operator.
  std::int64_t ready = 0;     ///< Those that are ready.
  friend bool operator==(const ClusterInfo&, const ClusterInfo&) = default;
};

/// A list of nodes or pods that could not be read.
struct MissingRight {
  std::string resource;        ///< "nodes"
  std::string namespace_name;  ///< Empty: in all namespaces.
  friend bool operator==(const MissingRight&, const MissingRight&) = default;
};

struct Snapshot {
  Timestamp time = {};
  ClusterInfo cluster = {};
  placement::PlacementOptions options = {};  ///< The operator's, or its defaults if they are not known.
  std::string topology_key = std::string(tpu::kNodePoolLabel);  ///< The node label whose values are shown as pools.
  bool has_autoscaler = false;                                  ///< placement::has_autoscaler()
  std::vector<NodePtr> nodes = {};
  std::vector<PodPtr> pods = {};
  /// Pods with TPUs that have a node, by uid, as their controller would create them again: gated, and with what they
  /// demand of nodes, which a view of a pod with a node does not keep.
  std::map<std::string, PodPtr> as_created = {};
  std::vector<Workload> workloads = {};
  std::vector<std::shared_ptr<const placement::ProvisioningRequestView>> provisioning_requests = {};
  std::shared_ptr<const placement::PreemptionRecords> preemptions = {};  ///< Null: not known.
  std::vector<HistoryRecord> history = {};
  std::vector<MissingRight> missing = {};

  /// All nodes and pods could be read. Otherwise nothing can be said about what placement does next.
  [[nodiscard]] bool is_complete() const { return missing.empty(); }
};

inline constexpr std::string_view kSnapshotSchema = "tpuslice.dev/snapshot.v1";

/// What the views of pods keep, as in the operator's stores: other extended resources are not compared with nodes.
[[nodiscard]] const KeptKeys& kept_keys();

/// The object with only what a snapshot is read from: no environment, no images, no annotations of others.
/// `object` is a Node, a Pod, a ProvisioningRequest, a ConfigMap or a workload.
[[nodiscard]] Json trimmed(const Json& object);

/// The object with that kind if it has none: items of a list in the answer of an API server have none.
[[nodiscard]] Json with_kind(Json object, std::string_view kind);

/// Reads a document of kSnapshotSchema, whose lists may be those of an API server:
///
///   {"schema": "tpuslice.dev/snapshot.v1", "time": "2026-01-01T00:00:00Z", "cluster": {...}, "options": {...},
///    "autoscaler": false, "nodes": [...], "pods": [...], "workloads": [...], "provisioningRequests": [...],
///    "preemptions": {...}, "history": [...], "missing": [{"resource": "nodes"}]}
///
/// It also reads a List of nodes, pods and workloads, as `kubectl get -o json` prints it; then the time is that of
/// `now`. An object that cannot be decoded is kept as a minimal view.
///
/// Errors: InvalidArgument with the path of the field.
[[nodiscard]] Result<Snapshot> read_snapshot(const Json& document, Timestamp now = {});

/// The document, whose lists are trimmed, from which read_snapshot() makes the same snapshot.
[[nodiscard]] Json trimmed_snapshot(const Json& document);

/// The member "options" of the document.
[[nodiscard]] Json write_options(const Snapshot& snapshot);

}  // namespace tpuslice::fleet
