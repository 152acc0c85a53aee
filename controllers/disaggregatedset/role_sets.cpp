#include "controllers/disaggregatedset/role_sets.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "controllers/disaggregatedset/rules/disaggregatedset_labels.h"
#include "controllers/plan/waiting_conditions.h"

namespace tpuslice::disaggregatedset {
namespace {

/// The condition of a LeaderWorkerSet; returns whether it is True.
bool read_condition(const Json& set, std::string_view type, Problem& problem) {
  const Json* condition = find_condition(array_at(set, {"status", "conditions"}), type);
  if (condition == nullptr) return false;
  if (string_at(*condition, {"status"}) == "True") return true;
  problem = {
      string_at(*condition, {"reason"}),
      fmt::format("LeaderWorkerSet {}: {}", string_at(set, {"metadata", "name"}), string_at(*condition, {"message"}))};
  return false;
}

}  // namespace

std::optional<RoleSet> RoleSet::read(const ObjectView& set) {
  const Object object = set.object();
  const Json& json = object.json();
  RoleSet out;
  out.key = set.key;
  out.uid = set.uid;
  out.role = object.label(kRole);
  out.revision = object.label(kRevision);
  const std::string slice = object.label(kSlice);
  out.legacy = slice.empty();
  const std::optional<int> number = out.legacy ? 0 : parse_count(slice);
  if (out.role.empty() || out.revision.empty() || !number) return std::nullopt;
  out.slice = *number;
  out.terminating = set.deletion.has_value();
  out.created = parse_rfc3339(string_at(json, {"metadata", "creationTimestamp"})).value_or(Timestamp());
  out.replicas = std::max<std::int64_t>(0, int_at(json, {"spec", "replicas"}, 1));
  out.initial_replicas = parse_count(object.annotation(kInitialReplicas));
  out.current = int_at(json, {"status", "replicas"});
  out.ready = int_at(json, {"status", "readyReplicas"});
  out.updated = int_at(json, {"status", "updatedReplicas"});
  out.placed = read_condition(json, plan::kSlicesPlaced, out.waits);
  out.started = read_condition(json, plan::kContainersStarted, out.stuck);
  return out;
}

void SliceSets::add(const RoleSet& set) {
  const RoleSet*& known = revisions[set.revision][set.role];
  if (known == nullptr || known->legacy) known = &set;
}

const RoleSet* SliceSets::find(const std::string& revision, const std::string& role) const {
  const auto sets = revisions.find(revision);
  if (sets == revisions.end()) return nullptr;
  const auto found = sets->second.find(role);
  return found == sets->second.end() ? nullptr : found->second;
}

bool ready_on_all_roles(const RoleSets& sets, const std::vector<RoleSpec>& roles) {
  return std::ranges::all_of(roles, [&](const RoleSpec& role) {
    const auto found = sets.find(role.name);
    return found != sets.end() && found->second->ready >= 1;
  });
}

}  // namespace tpuslice::disaggregatedset
