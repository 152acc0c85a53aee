#include "controllers/rayservice/cluster_suspension.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

/// What was applied to the cluster last.
struct SuspendRecord {
  bool suspend = false;
  std::int64_t generation = 0;  ///< metadata.generation of the RayService.

  static std::optional<SuspendRecord> parse(const std::string& annotation) {
    const std::vector<std::string> parts = split(annotation, '.');
    if (parts.size() != 2 || (parts[0] != "true" && parts[0] != "false")) return std::nullopt;
    const std::optional<std::int64_t> generation = parse_integer<std::int64_t>(parts[1]);
    if (!generation) return std::nullopt;
    return SuspendRecord{parts[0] == "true", *generation};
  }
};

/// rayClusterConfig.suspend; nothing if it is absent.
std::optional<bool> wanted(const RayServiceState& state) {
  if (state.spec.cluster_config == nullptr) return std::nullopt;
  const Json* value = find_set(*state.spec.cluster_config, {"suspend"});
  if (value == nullptr || !value->is_boolean()) return std::nullopt;
  return value->get<bool>();
}

}  // namespace

std::optional<bool> change_of_suspend(const RayServiceState& state, const Cluster& cluster) {
  const std::optional<bool> suspend = wanted(state);
  const std::optional<SuspendRecord> applied = SuspendRecord::parse(cluster.annotation(kSuspend));
  if (!suspend) return applied && applied->suspend ? std::optional(false) : std::nullopt;
  if (applied && applied->suspend != *suspend) return suspend;
  if (*suspend) return applied ? std::nullopt : suspend;
  const bool edited = !applied || applied->generation != state.seen.service.generation();
  return cluster.spec.suspend && edited ? suspend : std::nullopt;
}

bool is_suspended(const RayServiceState& state, const Cluster& cluster) {
  return change_of_suspend(state, cluster).value_or(cluster.spec.suspend);
}

bool holds_upgrade(const RayServiceState& state, const Cluster& cluster) {
  return wanted(state).value_or(false) && is_suspended(state, cluster);
}

bool resumes(const RayServiceState& state, const Cluster& cluster) {
  return cluster.spec.suspend && !is_suspended(state, cluster);
}

Json suspend_record(const RayServiceState& state) {
  const std::optional<bool> suspend = wanted(state);
  if (!suspend) return nullptr;
  return fmt::format("{}.{}", *suspend, state.seen.service.generation());
}

}  // namespace tpuslice::rayservice
