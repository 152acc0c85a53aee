#include "controllers/placement/placement_plan.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/earlier.h"
#include "controllers/placement/placement_render.h"
#include "controllers/placement/scale_up/scouts.h"
#include "controllers/placement/slices.h"

namespace tpuslice::placement {
namespace {

using plan::WaitingCode;

/// The slices of one accelerator by state.
struct Classified {
  PlacementRequest request;
  std::vector<WaitingSlice> incomplete;
  std::optional<Timestamp> changes_at;
};

/// Some of its pods were created without a gate, so the gated ones cannot be placed.
bool is_partly_gated(const Slice& slice, SlicePhase phase) {
  return phase == SlicePhase::kUngated &&
         std::ranges::any_of(slice.live(), [](const PodPtr& pod) { return is_gated(*pod); });
}

Classified classify(const AcceleratorCache& cache, Timestamp now, const PlacementOptions& options) {
  Classified out;
  out.request.placed = &cache.placed();
  for (const CachedSlice* each : cache.unplaced()) {
    const Slice& slice = each->slice;
    const SliceState& state = each->state;
    if (state.changes_at) set_earlier(out.changes_at, *state.changes_at);
    slice::WaitingReason reason;
    if (state.phase == SlicePhase::kReady) {
      if (!slice.topology_key.empty()) {
        out.request.ready.push_back(&slice);
        continue;
      }
      reason = {WaitingCode::kTopologyKeyUnsupported,
                fmt::format("its topology key is not supported, use {}", fmt::join(options.topology_keys, " or "))};
    } else if (state.phase == SlicePhase::kForming || is_partly_gated(slice, state.phase)) {
      reason = {state.code, state.reason};
    } else {
      continue;
    }
    const Timestamp due = slice.last_created() + options.waiting_reason_delay;
    if (now < due) {
      set_earlier(out.changes_at, due);
    } else {
      out.incomplete.push_back({&slice, std::move(reason)});
    }
  }
  return out;
}

/// Until when the domain is kept for the slice that ran in it; absent: it is not.
std::optional<Timestamp> kept_until(const AcceleratorCache& cache, const ObjectKey& key, const FormerPlace& place,
                                    const PlacementOptions& options) {
  if (place.domain.second.empty() || place.was_preempted || cache.placed().by_key.contains(key)) return std::nullopt;
  const auto found = cache.slices().find(key);
  const bool exists = found != cache.slices().end() && !found->second.slice.live().empty();
  if (exists) {
    const bool same_workload = workload_of(*found->second.slice.any_pod()) == place.workload;
    return same_workload ? std::optional(place.left + options.keep_domain) : std::nullopt;
  }
  return place.workload_runs ? std::optional(place.left + options.keep_domain_without_pods) : std::nullopt;
}

/// Not for slices that are left out of placement, which may not start for long.
void keep_domains(const PlacementObserved& seen, const AcceleratorCache& cache, const PlacementOptions& options,
                  const PlacementDecisions& decisions, Classified& out) {
  std::vector<KeptDomain>& kept = out.request.kept;
  std::set<ObjectKey> left_out;
  for (const auto* slices : {&decisions.refused, &decisions.rejected}) {
    for (const WaitingSlice& each : *slices) left_out.insert(each.slice->key);
  }
  for (const auto& [key, place] : seen.places) {
    if (left_out.contains(key)) continue;
    const std::optional<Timestamp> until = kept_until(cache, key, place, options);
    if (!until || seen.now >= *until) continue;
    kept.push_back({key, place.domain, place.priority, place.user});
    set_earlier(out.changes_at, *until);
  }
  std::ranges::stable_sort(kept, std::greater(), &KeptDomain::priority);
}

/// No event says that the store of the ConfigMap is synced, or that it exists.
constexpr Duration kRecordsRetry = std::chrono::seconds(5);

ObjectKey preemptions_key(const PlacementOptions& options) {
  return {options.scale_up.namespace_name, std::string(kPreemptionsConfigMap)};
}

PreemptionBudget preemption_budget(const PlacementObserved& seen, const std::string& accelerator,
                                   const PlacementOptions& options) {
  std::string record;
  if (const auto& records = seen.preemptions.records; records != nullptr) {
    const auto found = records->data.find(accelerator);
    if (found != records->data.end()) record = found->second;
  }
  return {options.max_preemptions_per_hour, record, seen.now};
}

/// Sets the budget of the request. Returns whether the ConfigMap of its records has to be created first.
bool set_preemption_budget(const PlacementObserved& seen, const std::string& accelerator,
                           const PlacementOptions& options, Classified& classified) {
  if (options.max_preemptions_per_hour <= 0 || classified.request.ready.empty()) return false;
  PreemptionBudget& budget = classified.request.preemption_budget;
  budget = preemption_budget(seen, accelerator, options);
  const std::string config_map = "ConfigMap " + preemptions_key(options).to_string();
  bool creates_records = false;
  if (seen.preemptions.records == nullptr) {
    creates_records = seen.preemptions.readable;
    budget.block(config_map + (creates_records ? " is being created" : " cannot be read"));
    set_earlier(classified.changes_at, seen.now + kRecordsRetry);
  } else if (!budget.invalid_entry().empty()) {
    budget.block(fmt::format("{}: data[{}]: Invalid value: {}: remove that entry", config_map, accelerator,
                             budget.invalid_entry()));
  }
  const std::optional<Timestamp> budget_changes = budget.changes_at();
  if (budget_changes) set_earlier(classified.changes_at, *budget_changes);
  return creates_records;
}

/// Keeps of the slices without nodes those that are due for a waiting reason, with what is done about new nodes.
/// Reasons of new slices would change with each placement.
void complete_waiting_reasons(const PlacementObserved& seen, const PlacementOptions& options, PlacementDecisions& out) {
  std::vector<WaitingSlice> due;
  for (WaitingSlice& waiting : out.waiting) {
    const Timestamp begin = waiting.slice->last_created() + options.waiting_reason_delay;
    if (seen.now < begin) {
      set_earlier(out.changes_at, begin);
      continue;
    }
    waiting.reason.text += out.scouts.notes[waiting.slice] + out.provisioning.notes[waiting.slice];
    due.push_back(std::move(waiting));
  }
  out.waiting = std::move(due);
}

/// A slice may be placed beside its own pods without TPUs.
void add_pods_without_tpus(const AcceleratorCache& cache, const PlacementRequest& request, Inventory& inventory) {
  if (cache.pods_without_tpus().empty()) return;
  std::set<ObjectKey> ready;
  for (const Slice* slice : request.ready) ready.insert(slice->key);
  for (const auto& [node, pods] : cache.pods_without_tpus()) {
    const auto other = std::ranges::find_if(pods, [&](const PodPtr& pod) { return !ready.contains(slice_key(*pod)); });
    if (other != pods.end()) inventory.add_user(*other);
  }
}

/// When the last node of the domain became Ready.
std::optional<Timestamp> ready_since(const std::vector<const NodeUse*>& nodes) {
  std::optional<Timestamp> since;
  for (const NodeUse* use : nodes) {
    if (use->node->ready && use->node->ready_changed)
      since = std::max(since.value_or(Timestamp()), *use->node->ready_changed);
  }
  return since;
}

void find_repaired(const PlacementObserved& seen, const PlacementOptions& options, Inventory& inventory,
                   PlacementRequest& request) {
  for (const DomainName& domain : seen.unstable) {
    const auto since = ready_since(inventory.uses(domain.first, domain.second));
    if (since && seen.now < *since + options.stable_time)
      request.repaired.emplace(domain, *since + options.stable_time);
  }
}

/// Decides which slices get nodes, and what is done for the others.
void decide(const PlacementObserved& seen, AcceleratorCache& cache, PlacementRequest& request,
            const PlacementOptions& options, const InspectDomains& inspect, PlacementDecisions& out) {
  Inventory inventory(cache, seen.now);
  find_repaired(seen, options, inventory, request);
  add_pods_without_tpus(cache, request, inventory);
  Assignment assignment = assign(request, inventory);
  if (inspect) inspect(request, assignment, inventory);
  out.scouts = plan_scouts(assignment.waiting, seen.scouts, inventory, seen.has_autoscaler, seen.now, options.scale_up);
  out.provisioning = plan_provisioning_requests(assignment.waiting, seen.provisioning, cache.accelerator(), seen.now,
                                                options.scale_up);
  for (const auto& changes_at : {assignment.changes_at, out.scouts.changes_at, out.provisioning.changes_at}) {
    if (changes_at) set_earlier(out.changes_at, *changes_at);
  }
  for (WaitingSlice& each : assignment.waiting) {
    const bool asked = out.scouts.asked.contains(each.slice) || out.provisioning.asked.contains(each.slice);
    if (asked) each.reason.code = WaitingCode::kNodesRequested;
  }
  out.placements = std::move(assignment.placements);
  out.preemptions = std::move(assignment.preemptions);
  out.pod_victims = std::move(assignment.pod_victims);
  for (const WaitingSlice& each : assignment.waiting) ++out.without_nodes[each.reason.code];
  out.waiting = std::move(assignment.waiting);
  complete_waiting_reasons(seen, options, out);
  const auto budgeted = std::ranges::count(out.preemptions, false, &Preemption::is_exchange);
  if (budgeted == 0) return;
  PreemptionBudget budget = request.preemption_budget;
  budget.use(static_cast<std::size_t>(budgeted));
  out.preemption_record = write_preemption_record(*seen.preemptions.records, cache.accelerator(), budget, seen.now);
}

}  // namespace

void add_asked_nodes(const std::vector<PodPtr>& scouts, const ProvisioningState& provisioning,
                     const ScaleUpOptions& options, PlacementRequest& request) {
  for (const PodPtr& scout : scouts) {
    if (may_bring_nodes(*scout, request.now, options)) request.scouts[slice_of_scout(*scout)] = scout->node_name;
  }
  for (const auto& each : provisioning.requests) {
    if (!may_bring_nodes(*each, request.now, options)) continue;
    request.requested.insert(slice_of_request(each->annotations));
  }
}

PlacementDecisions decide_placement(const PlacementObserved& seen, AcceleratorCache& cache,
                                    const PlacementOptions& options, const InspectDomains& inspect) {
  cache.update_states(seen.now);
  cache.domains().drop_unknown_keys();
  Classified classified = classify(cache, seen.now, options);
  PlacementRequest& request = classified.request;
  request.domain_failures = seen.domain_failures;
  request.capacity_order = options.capacity_order;
  request.show_other_namespaces = options.show_other_namespaces;
  request.now = seen.now;
  request.reservation = options.reservation;
  request.hold_timeout = options.hold_timeout;
  request.failed_writes = seen.failed_writes.get();
  add_asked_nodes(seen.scouts, seen.provisioning, options.scale_up, request);
  PlacementDecisions decisions;
  decisions.failed_writes = request.failed_writes;
  request.rejected = seen.rejected.get();
  const auto leave_out = [&](std::vector<WaitingSlice>& out, WaitingCode code, const auto& hold_of) {
    for (HeldSlice& held : take_held(request.ready, hold_of)) {
      set_earlier(classified.changes_at, held.hold.until);
      out.push_back({held.slice, {code, std::move(held.hold.reason)}});
    }
  };
  leave_out(decisions.refused, WaitingCode::kUpdateRefused,
            [&](const Slice& slice) { return hold_of_refused(slice, request.failed_writes, seen.now); });
  leave_out(decisions.rejected, WaitingCode::kPlacementRejected,
            [&](const Slice& slice) { return hold_of_rejected(slice, request.rejected, seen.now); });
  keep_domains(seen, cache, options, decisions, classified);
  if (set_preemption_budget(seen, cache.accelerator(), options, classified)) {
    decisions.preemption_record = create_preemption_records(preemptions_key(options));
  }
  decisions.changes_at = classified.changes_at;
  decisions.last_plan = seen.last_plan;
  const bool asks = !seen.scouts.empty() || !seen.provisioning.requests.empty() || !seen.provisioning.templates.empty();
  if (!request.ready.empty() || asks) {
    decide(seen, cache, request, options, inspect, decisions);
  } else if (inspect) {
    Inventory inventory(cache, seen.now);
    inspect(request, {}, inventory);
  }
  decisions.incomplete = std::move(classified.incomplete);
  return decisions;
}

plan::Plan plan_placement(const PlacementObserved& seen, AcceleratorCache& cache, const PlacementOptions& options) {
  return render_placement(cache, seen.now, decide_placement(seen, cache, options));
}

}  // namespace tpuslice::placement
