#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fleet/tables/texts.h"

namespace tpuslice::fleet {
namespace {

constexpr std::size_t kMaxObjectNames = 4;

std::string names_text(const std::vector<std::string>& names, bool all) {
  const std::size_t shown = all ? names.size() : std::min(names.size(), kMaxObjectNames);
  const std::vector<std::string> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown));
  return fmt::format("{}{}", fmt::join(first, ", "), shown < names.size() ? ", ..." : "");
}

void add_host_table(const ManifestPlan& plan, const TableOptions& options, bool env, std::string& out) {
  TextTable table{.header = {"SLICE", "HOST", "TPU_WORKER_ID", "MEGASCALE_SLICE_ID", "HOST NAME"}};
  for (const PlannedHost& host : plan.hosts) {
    if (!options.all && table.rows.size() == kMaxRows) break;
    table.rows.push_back({host.slice, std::to_string(host.host), host.worker_id.empty() ? "-" : host.worker_id,
                          host.megascale_slice.empty() ? "-" : host.megascale_slice, host.host_name});
  }
  out += "\n" + to_text(table);
  if (plan.hosts.size() > table.rows.size()) out += more_text(plan.hosts.size() - table.rows.size()) + "\n";
  if (!env) return;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const PlannedHost& host = plan.hosts[i];
    out += fmt::format("\n{} host {}:\n", printable(host.slice), host.host);
    for (const auto& [name, value] : host.env) out += fmt::format("  {}={}\n", printable(name), printable(value));
  }
}

/// "Fits: yes, in v6e-4x4-a, v6e-4x4-b."
std::string verdict_text(const ManifestPlan& plan) {
  if (plan.slices.empty()) return "Fits:       it has no slices of several hosts; kube-scheduler places its pods\n";
  std::set<std::string> pools;
  const FleetSlice* first = nullptr;
  for (const FleetSlice& slice : plan.slices) {
    if (!slice.pool.empty()) pools.insert(slice.pool);
    if (first == nullptr && slice.state == SliceState::kWaiting && !slice.code.empty()) first = &slice;
  }
  if (first == nullptr)
    return fmt::format("Fits:       yes, now, in {}\n", printable(fmt::format("{}", fmt::join(pools, ", "))));
  const char* const when = plan.answer == Answer::kNever ? "no, not as the cluster is" : "not now";
  const auto fit = static_cast<std::int64_t>(
      std::ranges::count_if(plan.slices, [](const FleetSlice& slice) { return slice.code.empty(); }));
  std::string out = fmt::format("Fits:       {}{}  [{}]\n            {}\n",
                                fit == 0 ? "" : fmt::format("{} now, the others ", counted(fit, "slice")), when,
                                printable(first->code), printable(first->reason));
  if (first->position > 0) {
    out += fmt::format("Queue:      it would be {} of {} for these nodes\n", ordinal(first->position), plan.queued);
  }
  return out;
}

}  // namespace

std::string plan_text(const ManifestPlan& plan, const TableOptions& options, bool env) {
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> shapes;
  for (const FleetSlice& slice : plan.slices) ++shapes[{shape_text(slice.tpu, slice.topology), slice.hosts}];
  std::string out;
  for (const auto& [shape, count] : shapes) {
    out +=
        fmt::format("{} of {} ({})\n", counted(count, "slice"), counted(shape.second, "host"), printable(shape.first));
  }
  TextTable objects{.header = {"OBJECT", "COUNT", "NAMES"}};
  for (const PlannedObjects& each : plan.objects) {
    objects.rows.push_back({each.kind, std::to_string(each.names.size()), names_text(each.names, options.all)});
  }
  out += (out.empty() ? "" : "\n") + to_text(objects);
  if (!plan.hosts.empty()) add_host_table(plan, options, env, out);
  out += fmt::format("\nRequests:   {} google.com/tpu\n", plan.chips) + verdict_text(plan);
  if (!plan.autoscaler.empty()) out += fmt::format("Autoscaler: {}\n", printable(plan.autoscaler));
  return out;
}

}  // namespace tpuslice::fleet
