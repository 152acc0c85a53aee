#include "controllers/leaderworkerset/sets/leader_template.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/hash.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/plan/drift.h"

namespace tpuslice::leaderworkerset {
namespace {

/// "metadata.labels, spec.containers" of a patch of a pod template.
std::string members_of(const Json& patch) {
  std::vector<std::string> out;
  for (const auto& [part, members] : patch.items()) {
    if (!members.is_object()) {
      out.push_back(part);
      continue;
    }
    for (const auto& [member, value] : members.items()) out.push_back(fmt::format("{}.{}", part, member));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

}  // namespace

LeaderTemplateDecision decide_leader_template(const Json& desired, const StatefulSetView& live) {
  const Json* const ours = find_path(desired, {"spec", "template"});
  const Result<Json> theirs = parse_json(live.pod_template);
  const std::string& recorded = live.annotation(kLeaderTemplate);
  if (ours == nullptr || !theirs) return {.recorded = recorded};
  const std::string hash = short_hash(ours->dump());
  Json patch = plan::restore_patch(*ours, *theirs);
  if (patch.is_null()) return {.recorded = hash};
  if (recorded != hash) return {.recorded = recorded};
  std::string restored = members_of(patch);
  return {std::move(patch), {}, std::move(restored)};
}

}  // namespace tpuslice::leaderworkerset
