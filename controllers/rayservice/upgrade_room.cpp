#include "controllers/rayservice/upgrade_room.h"

#include <chrono>

#include "api/types/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

constexpr std::string_view kSlicesWaiting = "SlicesWaiting";

std::string advice(const RayServiceState& state, const ClusterChoice& choice, const Options& options) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.room_timeout).count();
  const std::string waits = fmt::format("RayCluster {} has waited for nodes for {} s while RayCluster {} has its own",
                                        choice.pending_name, seconds, choice.active_name);
  if (state.spec.replace_without_room) {
    return fmt::format("{}: {} is deleted first, as annotation {} says; requests fail until {} is ready", waits,
                       choice.active_name, kUpgradeWithoutRoom, choice.pending_name);
  }
  return fmt::format("{}: add nodes, or set annotation {}={} to delete {} first; then requests fail until {} is ready",
                     waits, kUpgradeWithoutRoom, kReplaceWithoutRoom, choice.active_name, choice.pending_name);
}

}  // namespace

RoomDecision decide_room(const RayServiceState& state, const ClusterChoice& choice, const Options& options) {
  RoomDecision out;
  const Cluster* newest = choice.newest();
  if (newest == nullptr) {
    out.problem = {"ClusterPending", "the RayCluster is being created"};
    return out;
  }
  const Json* condition =
      find_condition(array_at(newest->object.json(), {"status", "conditions"}), plan::kSlicesPlaced);
  if (condition == nullptr) {
    out.problem = {"PodsPending", fmt::format("RayCluster {} has no pods yet", newest->name())};
    return out;
  }
  if (string_at(*condition, {"status"}) == "True") return out;
  const std::string reason = string_at(*condition, {"reason"});
  out.problem = {reason.empty() ? std::string(kSlicesWaiting) : reason,
                 fmt::format("RayCluster {}: {}", newest->name(), string_at(*condition, {"message"}))};
  if (reason != kSlicesWaiting || choice.pending == nullptr || choice.active == nullptr) return out;
  const auto since = parse_rfc3339(string_at(*condition, {"lastTransitionTime"}));
  if (!since) return out;
  const Duration waited = state.seen.now - *since;
  if (waited < options.room_timeout) {
    out.requeue_after = options.room_timeout - waited;
    return out;
  }
  out.problem = {std::string(kNoRoomForUpgrade),
                 fmt::format("{}. {}", advice(state, choice, options), out.problem.message)};
  out.replace = state.spec.replace_without_room;
  return out;
}

}  // namespace tpuslice::rayservice
