#include "fleet/answers/explain.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/types/utf8.h"
#include "fleet/answers/helps.h"
#include "fleet/names.h"
#include "fleet/outlook.h"
#include "fleet/tables/tables.h"
#include "tpu/chips.h"
#include "tpu/placement.h"

namespace tpuslice::fleet {
namespace {

using placement::AcceleratorCache;

constexpr std::size_t kMaxHistory = 5;
constexpr std::size_t kMaxExplainedText = 200;
constexpr std::size_t kMaxStarts = 20;

/// The keys of the slices of the workload, and the workload.
struct FoundWorkload {
  WorkloadName name;
  std::set<ObjectKey> slices;
};

Result<FoundWorkload> find_workload(const Snapshot& snapshot, const Reference& reference,
                                    const std::string& namespace_name) {
  const Names all(snapshot);
  FoundWorkload out;
  for (const PodPtr& pod : snapshot.pods) {
    if (!namespace_name.empty() && pod->key.namespace_name != namespace_name) continue;
    if (tpu::chips_of(*pod) == 0 || !placement::in_slice(*pod)) continue;
    const std::vector<WorkloadName> owners = all.all_of(*pod);
    const bool is_pod = reference.kind == "pod" && reference.name == pod->key.name;
    const bool is_slice =
        reference.kind == "slice" && (reference.name == pod->label(tpu::kSlice) ||
                                      reference.name == tpu::name_in_slice_key(pod->label(tpu::kSlice)));
    const bool is_owner =
        std::ranges::any_of(owners, [&](const WorkloadName& owner) { return names(reference, owner); });
    if (!is_pod && !is_slice && !is_owner) continue;
    if (!out.slices.empty() && out.name != owners.back()) {
      return Error::invalid_argument("{}/{} is in several namespaces, {} and {} among them: add --namespace",
                                     clip(reference.kind, kMaxExplainedText), clip(reference.name, kMaxExplainedText),
                                     out.name.namespace_name, owners.back().namespace_name);
    }
    out.name = owners.back();
    out.slices.insert(placement::slice_key(*pod));
  }
  if (!out.slices.empty()) return out;
  return Error::not_found("{}/{} has no pods with TPUs{}", clip(reference.kind, kMaxExplainedText),
                          clip(reference.name, kMaxExplainedText),
                          namespace_name.empty() ? "" : " in namespace " + namespace_name);
}

std::string ahead_text(const Fleet& fleet, const std::string& workload) {
  std::int64_t waiting = 0;
  std::string reserves;
  for (const FleetSlice& slice : fleet.slices) {
    if (slice.state == SliceState::kWaiting && to_string(slice.workload) == workload) ++waiting;
  }
  for (const Pool& pool : fleet.pools) {
    const bool reserved = std::ranges::any_of(
        pool.users, [&](const PoolUser& user) { return user.reserved && to_string(user.workload) == workload; });
    if (!reserved || pool.state != PoolState::kReserved) continue;
    reserves += reserves.empty() ? "; reserves " : ", ";
    reserves += pool.name;
    if (pool.until) reserves += " until " + clock_text(*pool.until, fleet.time);
  }
  return fmt::format("{} slice{} wait{}{}", waiting, waiting == 1 ? "" : "s", waiting == 1 ? "s" : "", reserves);
}

std::vector<AheadInQueue> ahead_of(const Fleet& fleet, const FleetSlice& slice) {
  std::vector<AheadInQueue> out;
  out.reserve(slice.behind.size());
  std::int64_t position = slice.position;
  for (const std::string& workload : slice.behind) out.push_back({--position, workload, ahead_text(fleet, workload)});
  std::ranges::reverse(out);
  return out;
}

/// Why a waiting slice does not get the domain, in the words of the pool if it is one.
std::string why_not(const Fleet& fleet, const FleetSlice& slice, const DomainView& domain) {
  if (domain.free) return "-";
  const Pool* const pool = find_pool(fleet, slice.topology_key, domain.name);
  if (!domain.matches) {
    const std::string shape = pool == nullptr ? std::string() : shape_text(pool->tpu, pool->topology);
    return shape.empty() || shape == shape_text(slice.tpu, slice.topology)
               ? "the node selector or affinity of the pods excludes it"
               : "it is " + shape;
  }
  if (pool == nullptr) return domain.why_not;
  const bool unusable = domain.obstacle == placement::Obstacle::kUnusable;
  if (unusable) {
    return pool->problem.empty() ? domain.why_not
                                 : pool->problem + (pool->since ? " for " + age_text(pool->since, fleet.time) : "");
  }
  if (pool->users.empty()) return domain.why_not;
  const PoolUser& user = pool->users.front();
  const std::string name =
      to_string(user.workload) + (user.slice.empty() ? std::string() : fmt::format(" ({})", user.slice));
  const std::string until = pool->until ? clock_text(*pool->until, fleet.time) : std::string();
  if (slice.code.empty() && domain.name == slice.pool) return "it gets this one next";
  if (user.reserved) {
    return fmt::format("reserved for {}{}", user.workload == slice.workload ? "it" : name,
                       until.empty() ? "" : " until " + until);
  }
  return fmt::format("{}, {}, {}", name, age_text(pool->since, fleet.time),
                     until.empty() ? "no deadline" : "ends by " + until);
}

Answer answer_of(const std::vector<FleetSlice>& slices) {
  Answer answer = Answer::kYes;
  for (const FleetSlice& slice : slices) {
    if (slice.never) return Answer::kNever;
    const bool is_fine = slice.state == SliceState::kRunning || slice.state == SliceState::kDone;
    if (!is_fine) answer = Answer::kNotNow;
  }
  return answer;
}

/// The last records that `is_wanted`, the latest first.
template <typename Wanted>
std::vector<HistoryRecord> last_records(const Snapshot& snapshot, const Wanted& is_wanted) {
  std::vector<HistoryRecord> out;
  std::ranges::copy_if(snapshot.history, std::back_inserter(out), is_wanted);
  std::ranges::stable_sort(out, std::greater(), &HistoryRecord::time);
  if (out.size() > kMaxHistory) out.resize(kMaxHistory);
  return out;
}

void explain_waiting(const Snapshot& snapshot, const Fleet& fleet, const FleetSlice& slice, WorkloadExplanation& out) {
  const ObjectKey key{slice.workload.namespace_name, slice.key};
  AcceleratorCache cache(slice.accelerator, planning_options(snapshot));
  read_cache(snapshot, cache);
  const Outlook outlook = plan_outlook(snapshot, cache, {key});
  const auto found = outlook.verdicts.find(key);
  if (found == outlook.verdicts.end()) return;
  const Verdict& verdict = found->second;
  out.ahead = ahead_of(fleet, slice);
  for (const FleetSlice& each : fleet.slices) {
    if (each.tpu == slice.tpu && each.topology == slice.topology) out.queued = std::max(out.queued, each.position);
  }
  for (const DomainView& domain : verdict.domains) {
    out.domains.push_back({domain.name, domain.matches, domain.free, why_not(fleet, slice, domain)});
  }
  std::ranges::stable_sort(out.domains, {}, [](const ExplainedDomain& domain) { return !domain.matches; });
  if (verdict.domain) return;
  out.earliest = earliest_start(fleet, verdict, slice);
  out.helps = helps_for(snapshot, fleet, verdict, slice);
  if (verdict.position > 0) out.autoscaler = autoscaler_text(snapshot, verdict);
}

}  // namespace

std::string_view to_string(Answer answer) {
  switch (answer) {
    case Answer::kYes:
      return "Yes";
    case Answer::kNotNow:
      return "NotNow";
    case Answer::kNever:
      return "Never";
  }
  return {};
}

Result<WorkloadExplanation> explain_workload(const Snapshot& snapshot, const Reference& reference,
                                             const std::string& namespace_name) {
  ASSIGN_OR_RETURN(const FoundWorkload found, find_workload(snapshot, reference, namespace_name));
  const Fleet fleet = build_fleet(snapshot);
  WorkloadExplanation out;
  out.workload = found.name;
  for (const FleetSlice& slice : fleet.slices) {
    if (!found.slices.contains({slice.workload.namespace_name, slice.key})) continue;
    if (slice.state == SliceState::kWaiting) ++out.waiting;
    out.slices.push_back(slice);
  }
  out.answer = answer_of(out.slices);
  if (out.waiting > 0 && snapshot.is_complete()) explain_waiting(snapshot, fleet, out.slices.front(), out);
  out.history = last_records(snapshot, [&](const HistoryRecord& record) {
    return record.namespace_name == found.name.namespace_name && record.kind == found.name.kind &&
           record.name == found.name.name;
  });
  return out;
}

Result<PoolExplanation> explain_pool(const Snapshot& snapshot, const std::string& name) {
  const Fleet fleet = build_fleet(snapshot);
  const auto found = std::ranges::find(fleet.pools, name, &Pool::name);
  if (found == fleet.pools.end())
    return Error::not_found("node pool {} has no TPU nodes", clip(name, kMaxExplainedText));
  PoolExplanation out;
  out.pool = *found;
  const bool unusable = out.pool.state == PoolState::kBroken || out.pool.state == PoolState::kDraining;
  out.answer = unusable ? Answer::kNever : Answer::kYes;
  for (const NodePtr& node : snapshot.nodes) {
    if (std::ranges::find(out.pool.nodes, node->key.name) == out.pool.nodes.end()) continue;
    const std::string& node_name = node->key.name;
    if (!node->ready) {
      const std::string since = node->ready_changed ? " for " + age_text(node->ready_changed, snapshot.time) : "";
      out.problems.push_back(fmt::format("node {} is not Ready{}", node_name, since));
    }
    if (node->deletion) out.problems.push_back(fmt::format("node {} is being deleted", node_name));
    if (node->unschedulable) out.problems.push_back(fmt::format("node {} is cordoned", node_name));
    if (node->ready && tpu::chips_of(*node) == 0)
      out.problems.push_back(fmt::format("node {} advertises no TPU chips", node_name));
  }
  for (const FleetSlice& slice : fleet.slices) {
    const bool same = slice.state == SliceState::kWaiting && slice.accelerator == out.pool.accelerator &&
                      slice.topology == out.pool.topology;
    if (same) out.waiting.push_back(slice);
  }
  if (unusable) {
    for (std::size_t i = 0; i < out.waiting.size() && i < kMaxStarts; ++i) {
      const FleetSlice& slice = out.waiting[i];
      if (slice.code.empty()) continue;  // It starts anyway.
      if (!starts_after_repair(snapshot, out.pool.nodes, {slice.workload.namespace_name, slice.key})) continue;
      out.starts.push_back(fmt::format("{} ({})", to_string(slice.workload), slice.slice));
    }
  }
  out.history = last_records(snapshot, [&](const HistoryRecord& record) { return record.pool == name; });
  return out;
}

}  // namespace tpuslice::fleet
