// The workers of a RayCluster, decided group by group in whole replicas.
//
// - A broken replica is deleted as a whole and created again. At no time do two live pods have one worker id: the next
//   attempt is created while pods of the last one still exist only if its pods are gated, since the slice controllers
//   release none of them before the last earlier pod is gone, or if the replica is a single host without peers. A
//   third attempt is not created before the pods of the first are gone. No group or replica waits for another.
// - Missing replicas take the lowest free indexes. Surplus ones are deleted as a whole: first broken, then forming,
//   then complete ones, the highest index first. With Ray's autoscaler only broken ones are: it alone knows which are
//   idle, and lists them in scaleStrategy.workersToDelete.
// - scaleStrategy.workersToDelete deletes the replica of each pod in it. Ray clears the list; until then the index of
//   such a replica is not used again, because the pods of its first attempt would have the names in the list.
// - With the annotation tpuslice.dev/upgrade: rolling, replicas that were built from an earlier template are recreated
//   one at a time in the cluster, and only while all others are complete and available. One that is not available
//   itself goes first.
// - An incomplete replica that was built from an earlier template is deleted, not completed, since the hosts of a slice
//   run the same program.
// - Pods of groups that the spec does not have, or without a replica index, are deleted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controllers/raycluster/observed_pods.h"
#include "controllers/raycluster/pods/pod_builder.h"
#include "controllers/raycluster/raycluster_options.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

enum class MayCreate : std::uint8_t {
  kNothing,
  kMissing,       ///< No pods while those of an earlier attempt exist: a quota may not allow both.
  kNextAttempts,  ///< Everything.
};

struct WorkerDecision {
  struct Deletion {
    std::vector<PodPtr> pods;  ///< At least one; none is terminating.
    std::string reason;        ///< A sentence.
    bool lost_host = false;    ///< Replica::lost_host
  };
  /// Creation of pods of one replica, all or the missing ones.
  struct Creation {
    std::shared_ptr<const WorkerPodBuilder> builder;
    std::string group;
    int replica = 0;
    int attempt = 0;
    std::vector<int> hosts;
    std::string reason;  ///< A sentence.
  };
  std::vector<Deletion> deletes;
  std::vector<Creation> creates;
  /// Pods are created beside terminating ones, which the garbage collector may be deleting because the cluster was
  /// deleted. So the plan first checks that the cluster is unchanged.
  bool beside_terminating = false;
  bool waits_for_deletion = false;  ///< Some pods are not created because of MayCreate::kMissing.
  std::size_t created_pods = 0;     ///< Number in all creates; the next plan creates those beyond kMaxCreatesPerPlan.
  std::vector<std::string> errors;  ///< Why pods cannot be built from the template of a group.
};

/// `workers` are pods whose controller is this cluster by UID, and terminating orphans; no other pod is ever touched.
[[nodiscard]] WorkerDecision decide_workers(const RayClusterSpec& spec, const std::vector<PodPtr>& workers,
                                            MayCreate may_create, const Options& options);

/// Scales down a cluster whose spec is refused: that needs no valid template, and other workloads wait for its nodes.
///
/// Deletes all pods of suspended groups, replicas with a pod in scaleStrategy.workersToDelete, and, without Ray's
/// autoscaler, surplus replicas: first those that have lost a pod, then the highest index. Nothing is judged by the
/// number of hosts, which may be what is wrong with the spec, and nothing is created.
///
/// Groups without a valid number of replicas, and all groups if two have one name, keep their pods. `workers` are as
/// for decide_workers().
[[nodiscard]] WorkerDecision decide_scale_down(const RayClusterSpec& spec, const std::vector<PodPtr>& workers);

}  // namespace tpuslice::raycluster
