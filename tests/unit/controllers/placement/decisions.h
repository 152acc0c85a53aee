// What assign(), plan_scouts() and plan_provisioning_requests() decide, with names instead of pointers.
//
//   decide({.nodes = a_pool("pool-a").nodes(), .ready = slices_of({a_slice("x")})}).placed   // "x to pool-a"
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/placement/assignment.h"
#include "controllers/placement/scale_up/provisioning_request.h"
#include "controllers/placement/scale_up/scale_up.h"
#include "tests/unit/controllers/placement/scenes.h"

namespace tpuslice::placement {

/// What the decisions depend on.
struct Scene {
  std::vector<NodePtr> nodes = {};
  std::vector<PodPtr> pods = {};  ///< On these nodes, or placed.
  std::vector<Slice> ready = {};
  Duration now = std::chrono::minutes(1);
  ReservationLimits reservation = {};
  std::size_t max_preemptions = 0;
  std::string preemption_record = {};
  DomainFailures failures = {};
  std::vector<PodPtr> scouts = {};
  ProvisioningState provisioning = {};
};

struct Decisions {
  std::vector<std::string> placed;             ///< "train to pool-a", in order.
  std::map<std::string, std::string> waiting;  ///< Reasons, by name.
  std::vector<std::string> lacking;            ///< Slices for which new nodes are wanted.
  std::vector<std::string> preempted;          ///< "low in pool-a for high"
  std::optional<Duration> changes_at;
};
[[nodiscard]] Decisions decide(const Scene& scene);

struct ScoutDecisions {
  std::vector<std::string> created;  ///< Names of the slices, in order.
  std::vector<std::string> deleted;  ///< Uids of the scouts, in order.
  std::map<std::string, std::string> notes;
  std::map<std::string, Json> pods;  ///< The scouts that are created, by slice.
  std::optional<Duration> changes_at;
};
/// plan_scouts() for what assign() leaves waiting.
[[nodiscard]] ScoutDecisions decide_scouts(const Scene& scene, const ScaleUpOptions& options = scout_options(),
                                           bool has_autoscaler = true);

/// A provisioning request of class check-capacity for the slice default/<name>, created at start_of_time(), as
/// request_options() ask for it; and its template.
using RequestChange = std::function<void(ProvisioningRequestView&)>;
[[nodiscard]] std::shared_ptr<const ProvisioningRequestView> a_request(const std::string& slice,
                                                                       const RequestChange& change = {});
[[nodiscard]] std::shared_ptr<const MetadataView> a_template(const std::string& slice);
/// Requests of class check-capacity in namespace tpu-system for each slice.
[[nodiscard]] ScaleUpOptions request_options();

struct RequestDecisions {
  std::vector<std::string> created;     ///< "PodTemplate x" or "ProvisioningRequest x", x being the slice, in order.
  std::vector<std::string> deleted;     ///< Uids, in order.
  std::map<std::string, Json> objects;  ///< What is created, by its name in `created`.
  std::map<std::string, std::string> notes;
  std::optional<Duration> changes_at;
};
/// plan_provisioning_requests() for what assign() leaves waiting.
[[nodiscard]] RequestDecisions decide_requests(const Scene& scene, const ScaleUpOptions& options = request_options());

/// The values of the topology key that the scout must not have, in all terms of its node affinity.
[[nodiscard]] std::vector<std::string> avoided_by(const Json& scout, const std::string& topology_key = kGkePool);

/// Slices "s-00" and so on, by age; each selects `kinds` different nodes in turn, and is of one of `spaces`.
[[nodiscard]] std::vector<Slice> many_slices(int count, int kinds, int spaces);

/// Pools pool-a, pool-b and so on, of two nodes each.
[[nodiscard]] std::vector<NodePtr> lettered_pools(int count);
/// `count` rows, each of `pools_each` pools of two nodes: row-1 of pool-11, pool-12.
[[nodiscard]] std::vector<NodePtr> numbered_rows(int count, int pools_each);
/// Needs all nodes of a row.
[[nodiscard]] SliceBuilder a_row_slice(const std::string& name, int hosts = 4);

}  // namespace tpuslice::placement
