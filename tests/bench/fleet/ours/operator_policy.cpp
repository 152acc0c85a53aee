#include "tests/bench/fleet/ours/operator_policy.h"

#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/base/check.h"
#include "api/base/earlier.h"
#include "controllers/placement/placement_plan.h"
#include "controllers/slice/slice_plan.h"
#include "tests/bench/fleet/ours/objects.h"

namespace tpuslice::fleet_bench {
namespace {

/// Plans reach a fixpoint within a few rounds.
constexpr int kMaxPlanningRounds = 1000;

placement::PlacementOptions placement_options(const PolicyOptions& options) {
  placement::PlacementOptions out;
  out.scale_up.namespace_name = "tpu-slice-system";
  out.max_preemptions_per_hour = options.preemptions_per_hour;
  out.reservation = {std::chrono::minutes(options.reservation_minutes), options.reservation_percent};
  return out;
}

}  // namespace

OperatorPolicy::OperatorPolicy(FleetRun& run, const PolicyOptions& options)
    : Policy(run),
      placement_options_(placement_options(options)),
      cluster_(run, slice_options_),
      cache_(kAccelerator, placement_options_) {}

void OperatorPolicy::pods_gone(int job) {
  TPUSLICE_CHECK_MSG(false, fmt::format("the cluster removes the pods of job {} itself", job));
}

Timestamp OperatorPolicy::due_after(Duration time) const {
  return std::chrono::ceil<std::chrono::seconds>(run_.now() + time);
}

void OperatorPolicy::plan() {
  cluster_.remove_terminated_pods();
  bool due = placement_due_ && *placement_due_ <= run_.now();
  for (int round = 0;; ++round) {
    TPUSLICE_CHECK_MSG(round < kMaxPlanningRounds, format_rfc3339(run_.now()));
    bool changed = cluster_.bind_pods();
    changed = plan_slices() || changed;
    changed = cluster_.restart_jobs() || changed;
    if (changed) continue;
    due = cluster_.take_placement_due() || due;
    if (!std::exchange(due, false)) return;
    plan_placement();
  }
}

std::optional<Timestamp> OperatorPolicy::next_plan() const {
  std::optional<Timestamp> next = placement_due_;
  for (const auto& [slice, due] : slices_due_) set_earlier(next, due);
  if (const auto termination = cluster_.next_termination()) set_earlier(next, *termination);
  return next;
}

void OperatorPolicy::update_cache() {
  const placement::Remembered remembered{{}, cluster_.histories().places()};
  const ClusterChanges changes = cluster_.take_changes();
  for (const NodeId node : changes.nodes) {
    cache_.set_node(run_.fleet().nodes[node].name, cluster_.node(node), cluster_.pods_on(node));
  }
  for (const SliceRef& slice : changes.slices) {
    cache_.set_slice(slice_key_of(run_.job(slice.first), slice.second), cluster_.pods_of(slice), remembered,
                     run_.now());
  }
}

void OperatorPolicy::plan_placement() {
  update_cache();
  placement::PlacementObserved seen;
  seen.now = run_.now();
  seen.preemptions = {placement_options_.max_preemptions_per_hour > 0, cluster_.preemption_records()};
  cluster_.histories().observe(
      placement_options_, [this](const ObjectKey& slice) { return cluster_.workload_runs(slice); }, seen);
  const plan::Plan plan = placement::plan_placement(seen, cache_, placement_options_);
  placement_due_.reset();
  if (plan.requeue_after) placement_due_ = due_after(*plan.requeue_after);
  apply(plan);
}

plan::Plan OperatorPolicy::plan_slice(const SliceRef& slice) const {
  slice::SliceObserved seen;
  seen.key = slice_key_of(run_.job(slice.first), slice.second);
  seen.pods = cluster_.pods_of(slice);
  seen.nodes = cluster_.nodes_of(slice);
  seen.now = run_.now();
  seen.workload_ends = !cluster_.workload_runs(seen.key);
  cluster_.histories().observe(seen);
  return slice::plan_slice(seen, slice_options_);
}

bool OperatorPolicy::plan_slices() {
  std::set<SliceRef> slices = cluster_.take_started_slices();
  for (const auto& [slice, due] : slices_due_) {
    if (due <= run_.now()) slices.insert(slice);
  }
  bool any = false;
  for (const SliceRef& slice : slices) {
    slices_due_.erase(slice);
    if (cluster_.pods_of(slice).empty()) continue;
    const plan::Plan plan = plan_slice(slice);
    if (plan.requeue_after) slices_due_.emplace(slice, due_after(*plan.requeue_after));
    any = apply(plan) || any;
  }
  return any;
}

bool OperatorPolicy::apply(const plan::Plan& plan) {
  bool any = false;
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) {
      const Status done = cluster_.apply(action);
      TPUSLICE_CHECK_MSG(done.ok(), done.error().message());
      any = true;
    }
  }
  return any;
}

}  // namespace tpuslice::fleet_bench
