// What is legal in a LeaderWorkerSet but probably not meant.
#include <fmt/format.h>

#include "tpu/labels.h"
#include "tpu/slice_shape.h"
#include "webhook/rules/fields.h"
#include "webhook/rules/leaderworkerset/rules.h"
#include "webhook/rules/leaderworkerset/validator.h"
#include "webhook/rules/tpu_rules.h"

namespace tpuslice::webhook {
namespace {

using Warnings = std::vector<std::string>;

bool on_host_network(const Json& pod) { return is_true(pod, {"spec", "hostNetwork"}); }

void warn_tpu_template(const Json& pod, std::string_view path, Warnings& warnings) {
  if (!selects_tpu_nodes(pod)) {
    warnings.push_back(
        fmt::format("{}.spec.nodeSelector: GKE schedules pods with TPUs by {} and {}; without them the "
                    "number of hosts cannot be checked",
                    path, tpu::kAcceleratorLabel, tpu::kTopologyLabel));
  }
  if (lacks_cluster_dns(pod)) {
    warnings.push_back(
        fmt::format("{}.spec.dnsPolicy: with hostNetwork the hosts of a slice find each other only with "
                    "ClusterFirstWithHostNet",
                    path));
  }
}

/// A leader without TPUs fits beside a worker on a host of the slice.
void warn_shared_ports(const Json& set, const LwsGroups& groups, Warnings& warnings) {
  if (groups.leader_has_tpus || !groups.workers_have_tpus || groups.leader == nullptr) return;
  const bool shares =
      selects_tpu_nodes(*groups.leader) || find_set(set, {"metadata", "annotations", tpu::kLwsTopologyKey}) != nullptr;
  if (!shares || !on_host_network(*groups.leader) || !on_host_network(*groups.worker)) return;
  warnings.push_back(
      fmt::format("{}.spec.hostNetwork: the leader may share a host with a worker that uses the host's "
                  "network too; no port can be used by both",
                  kLwsLeaderPath));
}

void warn_restarts(const Json& set, const LwsGroups& groups, Warnings& warnings) {
  constexpr std::string_view kPath = "spec.leaderWorkerTemplate.restartPolicy";
  const std::string policy = string_at(set, {"spec", "leaderWorkerTemplate", "restartPolicy"});
  if (policy == "Default") warnings.push_back(fmt::format("{}: Default is deprecated and counts as None", kPath));
  if (policy != "Default" && policy != "None") return;
  const Json* pod = groups.workers_have_tpus ? groups.worker : groups.leader;
  if (!groups.sound || pod == nullptr) return;
  const std::int64_t pods = lws_slices(groups).pods();
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
  if (!key_of(set, tpu::kLwsTopologyKey).empty() &&
      key_of(set, tpu::kLwsTopologyKey) == key_of(set, tpu::kLwsSubgroupTopologyKey)) {
    warnings.push_back(
        fmt::format("metadata.annotations[{}]: has no effect with the key of {}: subgroups would have "
                    "to be together and apart",
                    tpu::kLwsSubgroupTopologyKey, tpu::kLwsTopologyKey));
  }
  if (old == nullptr) return;
  for (const std::string_view annotation : {tpu::kLwsTopologyKey, tpu::kLwsSubgroupTopologyKey}) {
    if (key_of(set, annotation) == key_of(*old, annotation)) continue;
    warnings.push_back(
        fmt::format("metadata.annotations[{}]: is no part of a revision: its change restarts leaders "
                    "outside of the rollout strategy; change the templates with it",
                    annotation));
  }
}

}  // namespace

std::vector<std::string> warn_leaderworkerset(const Json& set, const Json* old) {
  Warnings warnings;
  const LwsGroups groups = read_lws_groups(set);
  if (groups.leader_has_tpus && groups.leader_has_template()) {
    warn_tpu_template(*groups.leader, kLwsLeaderPath, warnings);
  }
  if (groups.workers_have_tpus) warn_tpu_template(*groups.worker, kLwsWorkerPath, warnings);
  warn_shared_ports(set, groups, warnings);
  warn_restarts(set, groups, warnings);
  warn_placement(set, old, warnings);
  return warnings;
}

}  // namespace tpuslice::webhook
