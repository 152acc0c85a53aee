// Warnings about LeaderWorkerSets that are valid but probably unintended.
#include <fmt/format.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/validator.h"
#include "controllers/leaderworkerset/rules/validator_parts.h"
#include "tpu/labels.h"
#include "tpu/rules/tpu_rules.h"
#include "tpu/slice_shape.h"

namespace tpuslice::rules {
namespace {

using Warnings = std::vector<std::string>;

bool on_host_network(const Json& pod) { return bool_at(pod, {"spec", "hostNetwork"}); }

void warn_tpu_template(const Json& pod, std::string_view path, Warnings& warnings) {
  if (std::string text = warn_unselected_nodes(pod, path); !text.empty()) warnings.push_back(std::move(text));
  if (lacks_cluster_dns(pod)) {
    warnings.push_back(
        fmt::format("{}.spec.dnsPolicy: with hostNetwork the hosts of a slice find each other only with "
                    "ClusterFirstWithHostNet",
                    path));
  }
}

/// A leader without TPUs may run on the node of a worker.
void warn_shared_ports(const Json& set, const TpuGroup& group, Warnings& warnings) {
  if (group.leader_has_tpus || !group.workers_have_tpus || group.shape.leader == nullptr) return;
  const bool shares = selects_tpu_nodes(*group.shape.leader) ||
                      find_set(set, {"metadata", "annotations", leaderworkerset::kExclusiveTopology}) != nullptr;
  if (!shares || !on_host_network(*group.shape.leader) || !on_host_network(*group.shape.worker)) return;
  warnings.push_back(
      fmt::format("{}.spec.hostNetwork: the leader may run on the node of a worker that uses the host "
                  "network too; they cannot use the same ports",
                  kLwsLeaderPath));
}

void warn_restarts(const Json& set, const TpuGroup& group, Warnings& warnings) {
  constexpr std::string_view kPath = "spec.leaderWorkerTemplate.restartPolicy";
  const std::string policy = string_at(set, {"spec", "leaderWorkerTemplate", "restartPolicy"});
  if (policy == "Default") warnings.push_back(fmt::format("{}: Default is deprecated and counts as None", kPath));
  if (policy != "Default" && policy != "None") return;
  const Json* pod = group.workers_have_tpus ? group.shape.worker : group.shape.leader;
  if (!group.shape.valid || pod == nullptr) return;
  const std::int64_t pods = lws_slices(group).pods();
  if (pods < 2 || tpu::selected_hosts(*pod) == 1) return;
  warnings.push_back(
      fmt::format("{}: a host that restarts alone cannot rejoin its slice of {} hosts; use "
                  "RecreateGroupOnPodRestart or RecreateGroupAfterStart",
                  kPath, pods));
}

void warn_placement(const Json& set, const Json* old, Warnings& warnings) {
  const auto key_of = [](const Json& json, std::string_view annotation) {
    return string_at(json, {"metadata", "annotations", annotation});
  };
  if (!key_of(set, leaderworkerset::kExclusiveTopology).empty() &&
      key_of(set, leaderworkerset::kExclusiveTopology) == key_of(set, leaderworkerset::kSubgroupExclusiveTopology)) {
    warnings.push_back(
        fmt::format("metadata.annotations[{}]: has no effect with the same key in {}: subgroups would have "
                    "to be together and apart",
                    leaderworkerset::kSubgroupExclusiveTopology, leaderworkerset::kExclusiveTopology));
  }
  if (old == nullptr) return;
  for (const std::string_view annotation :
       {leaderworkerset::kExclusiveTopology, leaderworkerset::kSubgroupExclusiveTopology}) {
    if (key_of(set, annotation) == key_of(*old, annotation)) continue;
    warnings.push_back(
        fmt::format("metadata.annotations[{}]: is not part of a revision: it takes effect with the next change of the "
                    "templates, while upstream's controller restarts all leaders at once; change both together",
                    annotation));
  }
}

}  // namespace

std::vector<std::string> warn_leaderworkerset(const Json& set, const Json* old) {
  Warnings warnings;
  const GroupTemplate shape = GroupTemplate::read(set);
  const TpuGroup group(shape);
  if (group.leader_has_tpus && shape.has_leader_template()) {
    warn_tpu_template(*shape.leader, kLwsLeaderPath, warnings);
  }
  if (group.workers_have_tpus) warn_tpu_template(*shape.worker, kLwsWorkerPath, warnings);
  warn_shared_ports(set, group, warnings);
  warn_restarts(set, group, warnings);
  warn_placement(set, old, warnings);
  return warnings;
}

}  // namespace tpuslice::rules
