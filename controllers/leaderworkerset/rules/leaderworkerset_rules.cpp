#include "controllers/leaderworkerset/rules/leaderworkerset_rules.h"

#include "controllers/leaderworkerset/rules/group_member.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/lws_group.h"
#include "controllers/leaderworkerset/rules/validator.h"

namespace tpuslice::leaderworkerset {
namespace {

Status prepare_pod(rules::PodDraft& pod) {
  ASSIGN_OR_RETURN(const std::optional<LwsGroup> group, read_lws_group(pod.json));
  if (group) rules::set_member_labels(pod, *group);
  return {};
}

void adjust_identity(const Json& pod, tpu::SliceIdentity& identity) {
  identity.start = rules::member_start(pod, identity);
}

Status complete_pod(rules::PodDraft& pod, const tpu::SliceIdentity* identity, const rules::MutationOptions& options) {
  ASSIGN_OR_RETURN(const std::optional<LwsGroup> group, read_lws_group(pod.json));
  if (!group) return {};
  rules::set_member_placement(pod, *group, identity != nullptr && identity->multi_host(), options.topology_key);
  return rules::inject_member_env(pod, *group);
}

constexpr rules::PodSteps kPodSteps{prepare_pod, adjust_identity, complete_pod};

}  // namespace

constinit const rules::WorkloadKind kAdmission{
    .kind = "LeaderWorkerSet",
    .group = "leaderworkerset.x-k8s.io",
    .version = "v1",
    .path = "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset",
    .validate = rules::validate_leaderworkerset,
    .warn = rules::warn_leaderworkerset,
    .pod_label = kLwsName,
    .uid_in_template = true,
    .identify = identify_pod,
    .steps = &kPodSteps,
    .injects_init_containers = true,
};

}  // namespace tpuslice::leaderworkerset
