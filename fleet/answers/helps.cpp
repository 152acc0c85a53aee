#include "fleet/answers/helps.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "fleet/changes.h"
#include "fleet/tables/tables.h"

namespace tpuslice::fleet {
namespace {

using placement::Obstacle;
using placement::ScaleUp;

/// Repairs that are tried.
constexpr std::size_t kMaxRepairs = 5;

const NodeView* find_node(const Snapshot& snapshot, const std::string& name) {
  const auto found = std::ranges::find_if(snapshot.nodes, [&](const NodePtr& node) { return node->key.name == name; });
  return found == snapshot.nodes.end() ? nullptr : found->get();
}

/// What a person does about the nodes of the domain that cannot be used: "repair node c-1"; empty if that is not known.
std::string repair_of(const Snapshot& snapshot, const std::vector<std::string>& nodes) {
  std::string repair;
  std::size_t count = 0;
  for (const std::string& name : nodes) {
    const NodeView* const node = find_node(snapshot, name);
    if (node == nullptr) continue;
    const bool broken = !node->ready || node->deletion || node->minimal;
    if (!broken && !node->unschedulable) continue;
    if (++count == 1) repair = broken ? "repair node " + name : "kubectl uncordon " + name;
  }
  return count < 2 ? repair : fmt::format("{} and {} more node{}", repair, count - 1, count == 2 ? "" : "s");
}

}  // namespace

const Pool* find_pool(const Fleet& fleet, const std::string& topology_key, const std::string& name) {
  const auto found = std::ranges::find_if(
      fleet.pools, [&](const Pool& pool) { return pool.name == name && pool.topology_key == topology_key; });
  return found == fleet.pools.end() ? nullptr : &*found;
}

bool starts_after_repair(const Snapshot& snapshot, const std::vector<std::string>& nodes, const ObjectKey& slice) {
  Change repair{.kind = ChangeKind::kRepair, .text = "repair", .nodes = nodes};
  const Snapshot changed = with_change(snapshot, repair);
  for (const std::string& accelerator : accelerators_of(changed)) {
    placement::AcceleratorCache cache(accelerator, planning_options(changed));
    read_cache(changed, cache);
    const Outlook outlook = plan_outlook(changed, cache);
    const auto verdict = outlook.verdicts.find(slice);
    if (verdict != outlook.verdicts.end() && verdict->second.domain) return true;
  }
  return false;
}

std::vector<std::string> helps_for(const Snapshot& snapshot, const Fleet& fleet, const Verdict& verdict,
                                   const FleetSlice& slice) {
  std::vector<std::string> helps;
  std::vector<std::string> others;
  std::size_t tried = 0;
  for (const DomainView& domain : verdict.domains) {
    if (domain.obstacle != Obstacle::kUnusable || tried == kMaxRepairs) continue;
    const Pool* const pool = find_pool(fleet, slice.topology_key, domain.name);
    if (pool == nullptr) continue;
    const std::string repair = repair_of(snapshot, pool->nodes);
    if (repair.empty()) continue;
    ++tried;
    if (starts_after_repair(snapshot, pool->nodes, verdict.slice)) {
      helps.push_back(repair + " (it starts at once)");
    } else {
      others.push_back(repair + " (alone not enough)");
    }
  }
  helps.insert(helps.end(), others.begin(), others.end());
  if (verdict.matching < verdict.wanted) {
    helps.push_back(fmt::format("{} more node pool{} of {}", verdict.wanted - verdict.matching,
                                verdict.wanted - verdict.matching == 1 ? "" : "s",
                                shape_text(slice.tpu, slice.topology)));
  }
  if (verdict.position == 0 || verdict.matching < verdict.wanted) return helps;
  if (snapshot.options.max_preemptions_per_hour == 0) {
    helps.emplace_back(verdict.position > 1 ? "a higher priority: it comes earlier in the queue, but preemption is off"
                                            : "a higher priority: no, preemption is off");
  } else {
    helps.emplace_back("a higher priority than that of slices that run: they are preempted");
  }
  return helps;
}

std::string earliest_start(const Fleet& fleet, const Verdict& verdict, const FleetSlice& slice) {
  if (verdict.position == 0 || verdict.matching < verdict.wanted) return {};
  std::vector<Timestamp> ends;
  std::size_t free = 0;
  std::size_t unknown = 0;
  for (const DomainView& domain : verdict.domains) {
    if (domain.free) ++free;
    if (domain.obstacle != Obstacle::kOccupied) continue;
    const Pool* const pool = find_pool(fleet, slice.topology_key, domain.name);
    const bool reserved = pool != nullptr && pool->state == PoolState::kReserved;
    if (pool != nullptr && pool->until && !reserved) {
      ends.push_back(*pool->until);
    } else if (reserved) {
      ++free;
    } else {
      ++unknown;
    }
  }
  const std::size_t needed = verdict.slices_together + verdict.slices_ahead;
  std::ranges::sort(ends);
  if (needed > free && needed - free <= ends.size()) {
    return fmt::format("{} at the latest, if nothing else takes the nodes that become free",
                       clock_text(ends.at(needed - free - 1), fleet.time));
  }
  if (needed <= free) return {};
  if (unknown == 0) return {};
  return fmt::format("not known: {} of its node pools {} used without a deadline (activeDeadlineSeconds)", unknown,
                     unknown == 1 ? "is" : "are");
}

std::string autoscaler_text(const Snapshot& snapshot, const Verdict& verdict) {
  const placement::ScaleUpOptions& options = snapshot.options.scale_up;
  if (verdict.asked_in_gang > 0) return "has been asked for nodes";
  switch (options.mode) {
    case ScaleUp::kOff:
      return "is not asked for nodes (--scale-up=off)";
    case ScaleUp::kAuto:
      return snapshot.has_autoscaler ? "is asked for nodes when the slice lacks some (--scale-up=auto)"
                                     : "none found; nodes are not asked for (--scale-up=auto)";
    case ScaleUp::kScout:
      return "is asked for nodes when the slice lacks some (--scale-up=scout)";
    case ScaleUp::kProvisioningRequest:
      return "is asked for nodes when the slice lacks some (--scale-up=provisioning-request)";
  }
  return {};
}

}  // namespace tpuslice::fleet
