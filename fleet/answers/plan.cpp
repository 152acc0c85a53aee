#include "fleet/answers/plan.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "fleet/answers/helps.h"
#include "fleet/changes.h"
#include "fleet/fleet_json.h"
#include "fleet/outlook.h"
#include "tpu/chips.h"
#include "tpu/placement.h"
#include "tpu/variable_value.h"

namespace tpuslice::fleet {
namespace {

/// The variables of the first container with TPUs.
std::vector<std::pair<std::string, std::string>> env_of(const Json& pod) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Json& container : array_at(pod, {"spec", "containers"})) {
    if (find_set(container, {"resources", "limits", tpu::kTpuResource}) == nullptr) continue;
    for (const Json& variable : array_at(container, {"env"})) {
      out.emplace_back(string_at(variable, {"name"}), tpu::variable_value(pod, variable));
    }
    break;
  }
  return out;
}

std::string value_of_variable(const PlannedHost& host, std::string_view name) {
  for (const auto& [variable, value] : host.env) {
    if (variable == name) return value;
  }
  return {};
}

/// The n-th entry of TPU_WORKER_HOSTNAMES, n being the worker id; else the host name of the pod.
std::string host_name_of(const PlannedHost& host, const Json& pod) {
  const std::vector<std::string> names = split(value_of_variable(host, "TPU_WORKER_HOSTNAMES"), ',');
  const auto index = parse_count(host.worker_id);
  if (index && static_cast<std::size_t>(*index) < names.size()) return names[static_cast<std::size_t>(*index)];
  return string_at(pod, {"spec", "hostname"}, string_at(pod, {"metadata", "name"}));
}

PlannedHost host_of(const Json& pod, const PodView& view) {
  PlannedHost out;
  out.slice = tpu::name_in_slice_key(view.label(tpu::kSlice));
  out.host = placement::host_index(view).value_or(0);
  out.pod = view.key.name;
  out.env = env_of(pod);
  out.worker_id = value_of_variable(out, "TPU_WORKER_ID");
  out.megascale_slice = value_of_variable(out, "MEGASCALE_SLICE_ID");
  out.host_name = host_name_of(out, pod);
  return out;
}

void add_objects(const std::vector<Json>& created, ManifestPlan& out) {
  std::map<std::string, std::vector<std::string>> by_kind;
  for (const Json& object : created) {
    by_kind[string_at(object, {"kind"})].push_back(string_at(object, {"metadata", "name"}));
  }
  for (auto& [kind, names] : by_kind) {
    std::ranges::sort(names, {}, [](const std::string& name) { return std::tuple(name.size(), name); });
    out.objects.push_back({kind, std::move(names)});
  }
  std::ranges::stable_sort(out.objects, {}, [](const PlannedObjects& each) { return each.kind == "Pod"; });
}

void add_hosts(const std::vector<Json>& created, ManifestPlan& out) {
  for (const Json& object : created) {
    if (string_at(object, {"kind"}) != "Pod") continue;
    const auto view = PodView::decode(object.dump(), &kept_keys());
    if (!view || tpu::chips_of(*view) == 0) continue;
    out.chips += tpu::chips_of(*view);
    if (placement::in_slice(*view)) out.hosts.push_back(host_of(object, *view));
  }
  std::ranges::sort(out.hosts, {}, [](const PlannedHost& host) {
    return std::tuple(host.slice.size(), host.slice, host.host, host.pod);
  });
}

/// The verdict of the first slice that waits.
void add_scale_up(const Snapshot& snapshot, const FleetSlice& slice, ManifestPlan& out) {
  placement::AcceleratorCache cache(slice.accelerator, planning_options(snapshot));
  read_cache(snapshot, cache);
  const Outlook outlook = plan_outlook(snapshot, cache);
  const auto verdict = outlook.verdicts.find({slice.workload.namespace_name, slice.key});
  if (verdict != outlook.verdicts.end()) out.autoscaler = autoscaler_text(snapshot, verdict->second);
}

}  // namespace

std::vector<PodPtr> pods_as_created(const std::vector<Json>& created, Timestamp now) {
  Json document = {{"schema", kSnapshotSchema}, {"pods", Json::array()}};
  for (const Json& object : created) {
    if (string_at(object, {"kind"}) == "Pod") document["pods"].push_back(object);
  }
  const Result<Snapshot> snapshot = read_snapshot(document, now);
  std::vector<PodPtr> out;
  if (!snapshot) return out;
  for (const PodPtr& pod : snapshot->pods) {
    if (tpu::chips_of(*pod) == 0) continue;
    const auto known = snapshot->as_created.find(pod->uid);
    PodView view = known == snapshot->as_created.end() ? *pod : *known->second;
    view.created = now;
    view.uid = "planned-" + view.uid;
    out.push_back(std::make_shared<const PodView>(std::move(view)));
  }
  return out;
}

ManifestPlan plan_of_objects(const Snapshot& snapshot, const std::vector<Json>& created) {
  ManifestPlan out;
  add_objects(created, out);
  add_hosts(created, out);
  Change apply{.kind = ChangeKind::kApply, .text = "apply", .new_pods = pods_as_created(created, snapshot.time)};
  std::set<ObjectKey> keys;
  for (const PodPtr& pod : apply.new_pods) keys.insert(placement::slice_key(*pod));
  Snapshot before = snapshot;  // Pods that exist are replaced.
  std::erase_if(before.pods, [&](const PodPtr& pod) {
    return placement::in_slice(*pod) && keys.contains(placement::slice_key(*pod));
  });
  const Snapshot after = with_change(std::move(before), apply);
  const Fleet fleet = build_fleet(after);
  for (const FleetSlice& slice : fleet.slices) {
    if (!keys.contains({slice.workload.namespace_name, slice.key})) continue;
    out.slices.push_back(slice);
    if (slice.state != SliceState::kWaiting || slice.code.empty()) continue;
    if (out.answer != Answer::kNever) out.answer = slice.never ? Answer::kNever : Answer::kNotNow;
  }
  const auto waits = std::ranges::find_if(out.slices, [](const FleetSlice& slice) { return slice.position > 0; });
  if (waits == out.slices.end()) return out;
  for (const FleetSlice& each : fleet.slices) {
    if (each.tpu == waits->tpu && each.topology == waits->topology) out.queued = std::max(out.queued, each.position);
  }
  add_scale_up(after, *waits, out);
  return out;
}

Json write_plan(const ManifestPlan& plan) {
  Json objects = Json::array();
  for (const PlannedObjects& each : plan.objects) objects.push_back({{"kind", each.kind}, {"names", each.names}});
  Json hosts = Json::array();
  for (const PlannedHost& host : plan.hosts) {
    Json env = Json::array();
    for (const auto& [name, value] : host.env) env.push_back({{"name", name}, {"value", value}});
    hosts.push_back({{"slice", host.slice},
                     {"host", host.host},
                     {"pod", host.pod},
                     {"hostName", host.host_name},
                     {"env", std::move(env)}});
  }
  Json slices = Json::array();
  for (const FleetSlice& slice : plan.slices) slices.push_back(write_slice(slice));
  Json json = {{"schema", kFleetSchema},        {"answer", to_string(plan.answer)},
               {"objects", std::move(objects)}, {"hosts", std::move(hosts)},
               {"chips", plan.chips},           {"slices", std::move(slices)}};
  if (!plan.autoscaler.empty()) json["autoscaler"] = plan.autoscaler;
  return json;
}

}  // namespace tpuslice::fleet
