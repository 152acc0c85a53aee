#include "controllers/slice/placement_plan.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/earlier.h"
#include "controllers/slice/pod_patches.h"
#include "controllers/slice/slice_state.h"
#include "tpu/catalog.h"
#include "tpu/labels.h"
#include "tpu/topology_key.h"

namespace tpuslice::slice {
namespace {

using plan::EventType;
using plan::Measurement;

/// The slices of one accelerator by state.
struct Classified {
  PlacementRequest request;
  std::vector<WaitingSlice> incomplete;
  std::optional<Timestamp> changes_at;
};

/// Unique, also if the uid is unknown.
std::string name_of_workload(const Slice& slice) {
  const plan::ObjectReference workload = workload_of(*slice.any_pod());
  return fmt::format("{} {} {} {}", workload.api_version, workload.kind, workload.key.to_string(), workload.uid);
}

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

class PlanBuilder {
 public:
  /// Metrics have the label "other" for accelerators that are not in the catalog, since users choose those values.
  PlanBuilder(const PlacementObserved& seen, const std::vector<Slice>& slices)
      : seen_(seen), accelerator_(tpu::find_accelerator(seen.accelerator).ok() ? seen.accelerator : "other") {
    for (const Slice& slice : slices) {
      const bool waits =
          std::ranges::any_of(slice.live(), [](const PodPtr& pod) { return !pod->annotation(tpu::kWaiting).empty(); });
      if (waits) waiting_workloads_.insert(name_of_workload(slice));
    }
  }

  void add(const Placement& placement) {
    const Slice& slice = *placement.slice;
    const PodView& host0 = *slice.host0();
    std::string members = members_of(slice);
    // Not while hosts are missing: a node may be replaced before its host is created.
    const bool bind_to_nodes = members != kOpenMembers;
    writes_.push_back(release_pod(
        host0, {slice.topology_key, placement.domain, bind_to_nodes ? placement.nodes : std::vector<std::string>(),
                std::move(members), seen_.now, true}));
    const std::string how = fmt::format("placed in {} {}", domain_noun(slice.topology_key), placement.domain);
    const Duration waited = seen_.now - slice.last_created();
    const std::string what = fmt::format("slice {} of {} hosts is {}", short_name(slice), slice.size, how);
    notes_.push_back(what);
    add_event(slice, {EventType::kNormal, "SlicePlaced", "PlaceSlice",
                      fmt::format("{}, {} s after its last pod was created", what,
                                  std::chrono::duration_cast<std::chrono::seconds>(waited).count()),
                      host0.key});
    add_event(slice, {EventType::kWarning, "FailedPlaceSlice", "PlaceSlice",
                      fmt::format("Slice {} cannot be {}", short_name(slice), how), host0.key});
    count("tpuslice_slices_placed_total", "Number of slices placed in a domain.", host0.key);
    plan_.measurements.push_back({Measurement::Kind::kDuration,
                                  "tpuslice_slice_placement_seconds",
                                  "Time from the creation of a slice's last pod to its placement.",
                                  {{"accelerator", accelerator_}},
                                  std::chrono::duration<double>(std::max(waited, Duration::zero())).count(),
                                  host0.key});
  }

  void add(const WaitingSlice& waiting) {
    const Slice& slice = *waiting.slice;
    const std::vector<PodPtr> live = slice.live();
    if (live.empty()) return;
    const auto gated = std::ranges::find_if(live, [](const PodPtr& pod) { return is_gated(*pod); });
    const PodView& pod = gated == live.end() ? *live.front() : **gated;
    const std::string& written = pod.annotation(tpu::kWaiting);
    if (written == waiting.reason) return;
    writes_.push_back(set_waiting_reason(pod, waiting.reason));
    notes_.push_back(fmt::format("slice {} waits: {}", short_name(slice), waiting.reason));
    if (written.empty()) add_newly_waiting(waiting);
  }

  /// Deletes the started pods of the victim. The pods that its controller recreates wait like those of a new slice.
  void add(const Preemption& preemption) {
    const Slice& victim = *preemption.victim;
    const Slice& preemptor = *preemption.preemptor;
    const std::vector<PodPtr> started = victim.started();
    const std::string why = fmt::format("a slice of priority {} needs {} {}", preemptor.priority(),
                                        domain_noun(victim.topology_key), preemption.domain);
    for (const PodPtr& pod : started) {
      preparations_.push_back(set_disruption_target(*pod, kPreemptionBySlice, why, seen_.now));
      deletes_.push_back(delete_pod(*pod));
    }
    notes_.push_back(
        fmt::format("slice {} of priority {} is preempted: {}", short_name(victim), victim.priority(), why));
    add_event(victim,
              {EventType::kNormal, "SlicePreempted", "PreemptSlice",
               fmt::format("Slice {} of priority {} is preempted: {}", short_name(victim), victim.priority(), why),
               started.front()->key});
    count("tpuslice_slices_preempted_total", "Number of slices preempted by slices of higher priority.",
          started.front()->key);
  }

  /// Before the deletes. If it fails, nothing is preempted.
  void add_preemption_record(plan::Action action) {
    action.failure_reason = "FailedPreemptSlice";
    const bool creates = action.kind == plan::ActionKind::kCreate;
    if (creates) notes_.push_back(fmt::format("{} {} is created", action.type.kind, action.key.to_string()));
    records_.push_back(std::move(action));
  }

  void add(ScoutPlan scouts) {
    for (plan::Action& action : scouts.creates) {
      if (action.type != kPodTemplates) {
        count("tpuslice_scale_ups_total", "Number of scout pods and provisioning requests created.", action.key);
      }
      notes_.push_back(fmt::format("{} {} is created", action.type.kind, action.key.to_string()));
      writes_.push_back(std::move(action));
    }
    for (plan::Action& action : scouts.deletes) {
      notes_.push_back(fmt::format("{} {} is deleted", action.type.kind, action.key.to_string()));
      scout_deletes_.push_back(std::move(action));
    }
  }

  void set_waiting_count(const std::string& reason, std::size_t slices) {
    plan_.measurements.push_back({Measurement::Kind::kLevel,
                                  "tpuslice_slices_waiting",
                                  "Number of slices that are not placed.",
                                  {{"accelerator", accelerator_}, {"reason", reason}},
                                  static_cast<double>(slices),
                                  std::nullopt});
  }

  plan::Plan take(std::optional<Timestamp> changes_at) {
    for (const auto& [workload, newly] : newly_waiting_) add_waiting_event(newly);
    // A failed write must not hold back other slices.
    for (auto* const writes : {&scout_deletes_, &writes_, &records_, &preparations_, &deletes_}) {
      if (!writes->empty()) plan_.stages.push_back({std::move(*writes), true, writes != &records_});
    }
    plan_.reason = plan::summary(notes_);
    if (changes_at) plan::requeue_within(plan_.requeue_after, *changes_at - seen_.now);
    return std::move(plan_);
  }

 private:
  /// Slices of one workload that begin to wait.
  struct NewlyWaiting {
    const Slice* first = nullptr;
    std::string reason;  ///< Of the first one.
    std::size_t slices = 0;
  };

  /// One event for each workload, when the first of its slices begins to wait.
  void add_newly_waiting(const WaitingSlice& waiting) {
    const std::string workload = name_of_workload(*waiting.slice);
    if (waiting_workloads_.contains(workload)) return;
    NewlyWaiting& newly = newly_waiting_[workload];
    if (newly.slices++ == 0) {
      newly.first = waiting.slice;
      newly.reason = waiting.reason;
    }
  }
  void add_waiting_event(const NewlyWaiting& newly) {
    const std::string name = short_name(*newly.first);
    std::string message =
        newly.slices == 1 ? fmt::format("Slice {} waits: {}", name, newly.reason)
                          : fmt::format("{} slices wait, slice {} among them: {}", newly.slices, name, newly.reason);
    add_event(*newly.first, {EventType::kNormal, "SliceWaiting", "PlaceSlice", std::move(message), std::nullopt});
  }

  void add_event(const Slice& slice, plan::EventIntent intent) {
    intent.regarding = workload_of(*slice.any_pod());
    plan_.events.push_back(std::move(intent));
  }
  void count(const std::string& name, const std::string& help, const ObjectKey& after) {
    plan_.measurements.push_back({Measurement::Kind::kCount, name, help, {{"accelerator", accelerator_}}, 1, after});
  }

  const PlacementObserved& seen_;
  const std::string accelerator_;
  plan::Plan plan_;
  /// Runs first: for a scout whose nodes are already used by a slice, an autoscaler would add more nodes.
  std::vector<plan::Action> scout_deletes_;
  std::vector<plan::Action> writes_;
  std::vector<plan::Action> records_;  ///< Of preemptions, as are the next two.
  std::vector<plan::Action> preparations_;
  std::vector<plan::Action> deletes_;
  std::set<std::string> waiting_workloads_;  ///< Some slice has a waiting reason already.
  std::map<std::string, NewlyWaiting> newly_waiting_;
  std::vector<std::string> notes_;
};

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

/// Preempts the victims after the preemptions are recorded.
void add_preemptions(const std::vector<Preemption>& preemptions, const PlacementObserved& seen, PreemptionBudget budget,
                     PlanBuilder& builder) {
  if (preemptions.empty()) return;
  budget.use(preemptions.size());
  builder.add_preemption_record(write_preemption_record(*seen.preemptions.records, seen.accelerator, budget, seen.now));
  for (const Preemption& each : preemptions) builder.add(each);
}

/// Separates the scouts from the pods of workloads.
std::vector<PodPtr> take_scouts(std::vector<PodPtr>& pods, const ScaleUpOptions& options) {
  const auto scouts = std::ranges::stable_partition(pods, [&](const PodPtr& pod) { return !is_scout(*pod, options); });
  std::vector<PodPtr> out(scouts.begin(), scouts.end());
  pods.erase(scouts.begin(), scouts.end());
  return out;
}

}  // namespace

plan::Plan plan_placement(const PlacementObserved& seen, const Options& options) {
  std::vector<PodPtr> pods = seen.pods;
  const std::vector<PodPtr> scouts = take_scouts(pods, options.scale_up);
  std::vector<Slice> slices = read_slices(pods, seen.removed_hosts);
  for (Slice& slice : slices) {
    const std::string& key = slice.topology_key;
    const bool allowed =
        options.topology_keys.empty() || options.topology_keys.contains(key) || tpu::is_gke_topology_key(key);
    if (!allowed) slice.topology_key.clear();
  }
  Classified classified = classify(slices, seen.now, options);
  PlacementRequest& request = classified.request;
  request.domain_failures = seen.domain_failures;
  request.show_other_namespaces = options.show_other_namespaces;
  request.now = seen.now;
  request.reservation = options.reservation;
  bool creates_records = false;
  if (options.max_preemptions_per_hour > 0 && !request.ready.empty()) {
    PreemptionBudget& budget = request.preemption_budget;
    budget = preemption_budget(seen, options);
    const std::string config_map = "ConfigMap " + preemptions_key(options).to_string();
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
  }
  for (const PodPtr& scout : scouts) {
    if (is_live(*scout)) request.scouts[slice_of_scout(*scout)] = scout->node_name;
  }
  for (const auto& each : seen.provisioning.requests) {
    if (!may_bring_nodes(*each, seen.now, options.scale_up)) continue;
    request.requested.insert(slice_of_request(each->annotations));
  }
  PlanBuilder builder(seen, slices);
  const bool asks = !scouts.empty() || !seen.provisioning.requests.empty() || !seen.provisioning.templates.empty();
  if (!request.ready.empty() || asks) {
    Inventory inventory(seen.nodes, pods, slices);
    inventory.add_users(others_than(request.ready, seen.pods_without_tpus));
    Assignment assignment = assign(request, inventory);
    if (assignment.changes_at) set_earlier(classified.changes_at, *assignment.changes_at);
    ScoutPlan scout_plan =
        plan_scouts(assignment.waiting, scouts, inventory, seen.has_autoscaler, seen.now, options.scale_up);
    if (scout_plan.changes_at) set_earlier(classified.changes_at, *scout_plan.changes_at);
    ScoutPlan requests =
        plan_provisioning_requests(assignment.waiting, seen.provisioning, seen.accelerator, seen.now, options.scale_up);
    if (requests.changes_at) set_earlier(classified.changes_at, *requests.changes_at);
    for (const Placement& placement : assignment.placements) builder.add(placement);
    add_preemptions(assignment.preemptions, seen, request.preemption_budget, builder);
    if (creates_records) builder.add_preemption_record(create_preemption_records(preemptions_key(options)));
    for (WaitingSlice& waiting : assignment.waiting) {
      // Not for new slices: the reasons of many would change with each placement.
      const Timestamp due = waiting.slice->last_created() + options.waiting_reason_delay;
      if (seen.now < due) {
        set_earlier(classified.changes_at, due);
        continue;
      }
      waiting.reason += scout_plan.notes[waiting.slice] + requests.notes[waiting.slice];
      builder.add(waiting);
    }
    builder.add(std::move(scout_plan));
    builder.add(std::move(requests));
    builder.set_waiting_count("no free nodes", assignment.waiting.size());
  } else {
    builder.set_waiting_count("no free nodes", 0);
  }
  for (const WaitingSlice& waiting : classified.incomplete) builder.add(waiting);
  builder.set_waiting_count("incomplete", classified.incomplete.size());
  return builder.take(classified.changes_at);
}

}  // namespace tpuslice::slice
