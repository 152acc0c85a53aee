#include "controllers/slice/placement_plan.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/earlier.h"
#include "controllers/slice/placement_render.h"
#include "controllers/slice/slice_state.h"
#include "tpu/labels.h"
#include "tpu/topology_key.h"

namespace tpuslice::slice {
namespace {

/// The slices of one accelerator by state.
struct Classified {
  PlacementRequest request;
  std::vector<WaitingSlice> incomplete;
  std::optional<Timestamp> changes_at;
};

/// Some of its pods were created without a gate, so the gated ones cannot be placed.
bool is_partly_gated(const Slice& slice, Phase phase) {
  return phase == Phase::kUngated &&
         std::ranges::any_of(slice.live(), [](const PodPtr& pod) { return is_gated(*pod); });
}

Classified classify(const std::vector<Slice>& slices, Timestamp now, const Options& options) {
  Classified out;
  for (const Slice& slice : slices) {
    SliceState state = state_of(slice, now);
    if (state.changes_at) set_earlier(out.changes_at, *state.changes_at);
    if (state.phase == Phase::kReady && slice.topology_key.empty()) {
      state = {Phase::kForming,
               fmt::format("its topology key is not supported, use {}", fmt::join(options.topology_keys, " or "))};
    }
    if (state.phase == Phase::kReady) {
      out.request.ready.push_back(slice);
    } else if (state.phase == Phase::kPlaced) {
      if (!slice.gang.empty()) ++out.request.placed_gangs[{slice.key.namespace_name, slice.gang}];
      out.request.running.emplace(slice.key, &slice);
    } else if (state.phase == Phase::kForming || is_partly_gated(slice, state.phase)) {
      const Timestamp due = slice.last_created() + options.waiting_reason_delay;
      if (now < due) {
        set_earlier(out.changes_at, due);
      } else {
        out.incomplete.push_back({&slice, std::move(state.reason)});
      }
    }
  }
  return out;
}

/// The pods that are in none of these slices: a slice may be placed beside its own pods without TPUs.
std::vector<PodPtr> others_than(const std::vector<Slice>& slices, const std::vector<PodPtr>& pods) {
  std::set<ObjectKey> keys;
  for (const Slice& slice : slices) keys.insert(slice.key);
  std::vector<PodPtr> out;
  std::ranges::copy_if(pods, std::back_inserter(out), [&](const PodPtr& pod) {
    return !keys.contains({pod->key.namespace_name, pod->label(tpu::kSlice)});
  });
  return out;
}

/// No event says that the store of the ConfigMap is synced, or that it exists.
constexpr Duration kRecordsRetry = std::chrono::seconds(5);

ObjectKey preemptions_key(const Options& options) {
  return {options.scale_up.namespace_name, std::string(kPreemptionsConfigMap)};
}

PreemptionBudget preemption_budget(const PlacementObserved& seen, const Options& options) {
  std::string record;
  if (const auto& records = seen.preemptions.records; records != nullptr) {
    const auto found = records->data.find(seen.accelerator);
    if (found != records->data.end()) record = found->second;
  }
  return {options.max_preemptions_per_hour, record, seen.now};
}

/// Separates the scouts from the pods of workloads.
std::vector<PodPtr> take_scouts(std::vector<PodPtr>& pods, const ScaleUpOptions& options) {
  const auto scouts = std::ranges::stable_partition(pods, [&](const PodPtr& pod) { return !is_scout(*pod, options); });
  std::vector<PodPtr> out(scouts.begin(), scouts.end());
  pods.erase(scouts.begin(), scouts.end());
  return out;
}

/// All slices with the topology key that the options allow; another one is cleared.
std::vector<Slice> slices_of(const std::vector<PodPtr>& pods, const PlacementObserved& seen, const Options& options) {
  std::vector<Slice> slices = read_slices(pods, seen.removed_hosts);
  for (Slice& slice : slices) {
    const std::string& key = slice.topology_key;
    const bool allowed =
        options.topology_keys.empty() || options.topology_keys.contains(key) || tpu::is_gke_topology_key(key);
    if (!allowed) slice.topology_key.clear();
  }
  return slices;
}

/// Sets the budget of the request. Returns whether the ConfigMap of its records has to be created first.
bool set_preemption_budget(const PlacementObserved& seen, const Options& options, Classified& classified) {
  if (options.max_preemptions_per_hour <= 0 || classified.request.ready.empty()) return false;
  PreemptionBudget& budget = classified.request.preemption_budget;
  budget = preemption_budget(seen, options);
  const std::string config_map = "ConfigMap " + preemptions_key(options).to_string();
  bool creates_records = false;
  if (seen.preemptions.records == nullptr) {
    creates_records = seen.preemptions.readable;
    budget.block(config_map + (creates_records ? " is being created" : " cannot be read"));
    set_earlier(classified.changes_at, seen.now + kRecordsRetry);
  } else if (!budget.invalid_entry().empty()) {
    budget.block(fmt::format("{}: data[{}]: Invalid value: {}: remove that entry", config_map, seen.accelerator,
                             budget.invalid_entry()));
  }
  const std::optional<Timestamp> budget_changes = budget.changes_at();
  if (budget_changes) set_earlier(classified.changes_at, *budget_changes);
  return creates_records;
}

/// The nodes that the waiting slices have asked for.
void add_asked_nodes(const PlacementObserved& seen, const std::vector<PodPtr>& scouts, const Options& options,
                     PlacementRequest& request) {
  for (const PodPtr& scout : scouts) {
    if (is_live(*scout)) request.scouts[slice_of_scout(*scout)] = scout->node_name;
  }
  for (const auto& each : seen.provisioning.requests) {
    if (!may_bring_nodes(*each, seen.now, options.scale_up)) continue;
    request.requested.insert(slice_of_request(each->annotations));
  }
}

/// Keeps of the slices without nodes those that are due for a waiting reason, with what is done about new nodes.
/// Reasons of new slices would change with each placement.
void complete_waiting_reasons(const PlacementObserved& seen, const Options& options, PlacementDecisions& out) {
  std::vector<WaitingSlice> due;
  for (WaitingSlice& waiting : out.waiting) {
    const Timestamp begin = waiting.slice->last_created() + options.waiting_reason_delay;
    if (seen.now < begin) {
      set_earlier(out.changes_at, begin);
      continue;
    }
    waiting.reason += out.scouts.notes[waiting.slice] + out.provisioning.notes[waiting.slice];
    due.push_back(std::move(waiting));
  }
  out.waiting = std::move(due);
}

/// Decides which slices get nodes, and what is done for the others.
void decide(const PlacementObserved& seen, const std::vector<PodPtr>& pods, const std::vector<PodPtr>& scouts,
            const std::vector<Slice>& slices, const PlacementRequest& request, const Options& options,
            PlacementDecisions& out) {
  Inventory inventory(seen.nodes, pods, slices);
  inventory.add_users(others_than(request.ready, seen.pods_without_tpus));
  Assignment assignment = assign(request, inventory);
  out.scouts = plan_scouts(assignment.waiting, scouts, inventory, seen.has_autoscaler, seen.now, options.scale_up);
  out.provisioning =
      plan_provisioning_requests(assignment.waiting, seen.provisioning, seen.accelerator, seen.now, options.scale_up);
  for (const auto& changes_at : {assignment.changes_at, out.scouts.changes_at, out.provisioning.changes_at}) {
    if (changes_at) set_earlier(out.changes_at, *changes_at);
  }
  out.placements = std::move(assignment.placements);
  out.preemptions = std::move(assignment.preemptions);
  out.without_nodes = assignment.waiting.size();
  out.waiting = std::move(assignment.waiting);
  complete_waiting_reasons(seen, options, out);
  if (out.preemptions.empty()) return;
  PreemptionBudget budget = request.preemption_budget;
  budget.use(out.preemptions.size());
  out.preemption_record = write_preemption_record(*seen.preemptions.records, seen.accelerator, budget, seen.now);
}

}  // namespace

plan::Plan plan_placement(const PlacementObserved& seen, const Options& options) {
  std::vector<PodPtr> pods = seen.pods;
  const std::vector<PodPtr> scouts = take_scouts(pods, options.scale_up);
  const std::vector<Slice> slices = slices_of(pods, seen, options);
  Classified classified = classify(slices, seen.now, options);
  PlacementRequest& request = classified.request;
  request.domain_failures = seen.domain_failures;
  request.show_other_namespaces = options.show_other_namespaces;
  request.now = seen.now;
  request.reservation = options.reservation;
  add_asked_nodes(seen, scouts, options, request);
  PlacementDecisions decisions;
  if (set_preemption_budget(seen, options, classified)) {
    decisions.preemption_record = create_preemption_records(preemptions_key(options));
  }
  decisions.changes_at = classified.changes_at;
  const bool asks = !scouts.empty() || !seen.provisioning.requests.empty() || !seen.provisioning.templates.empty();
  if (!request.ready.empty() || asks) decide(seen, pods, scouts, slices, request, options, decisions);
  decisions.incomplete = std::move(classified.incomplete);
  return render_placement(seen, slices, std::move(decisions));
}

}  // namespace tpuslice::slice
