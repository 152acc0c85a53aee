// OperatorPolicy: the planners of this operator, on pods and nodes as its stores would hold them. The accelerator cache
// is kept from plan to plan and follows the changes; plans are made when something has changed or is due.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "controllers/placement/accelerator_cache.h"
#include "tests/bench/fleet/ours/cluster.h"
#include "tests/bench/fleet/policy.h"

namespace tpuslice::fleet_bench {

class OperatorPolicy final : public Policy {
 public:
  OperatorPolicy(FleetRun& run, const PolicyOptions& options);

  void pods_created(int job) override { cluster_.create_pods(job); }
  void job_finished(int job) override { cluster_.collect_pods(job); }
  void end_host(const HostRef& host, HostEnd how) override { cluster_.end_host(host, how); }
  void pods_gone(int job) override;
  void node_changed(NodeId node) override { cluster_.update_node(node); }
  void plan() override;
  [[nodiscard]] std::optional<Timestamp> next_plan() const override;

 private:
  void plan_placement();
  /// Whether a plan has written anything.
  bool plan_slices();
  [[nodiscard]] plan::Plan plan_slice(const SliceRef& slice) const;
  void update_cache();
  /// Whether anything was written.
  bool apply(const plan::Plan& plan);
  /// When a plan of now is due again.
  [[nodiscard]] Timestamp due_after(Duration time) const;

  const placement::PlacementOptions placement_options_;
  const slice::Options slice_options_;
  Cluster cluster_;
  placement::AcceleratorCache cache_;
  std::optional<Timestamp> placement_due_;
  std::map<SliceRef, Timestamp> slices_due_;
};

}  // namespace tpuslice::fleet_bench
