// Adoption: pods that an earlier cluster of the same name left behind become children of the present one.
//
// `kubectl delete raycluster --cascade=orphan` removes the owner references of its children. Upstream finds pods by
// label, so a new cluster of that name has them at once; we find them by owner, so they get an owner reference first.
// Until then no pod is created, since it might be a second one for a host that has one.
#pragma once

#include <optional>
#include <vector>

#include "api/types/views.h"
#include "controllers/raycluster/observed_pods.h"

namespace tpuslice::raycluster {

/// The cluster that may adopt the pod: it has the labels of a head or worker, and no owner of any kind.
[[nodiscard]] std::optional<ObjectKey> cluster_of_orphan(const PodView& pod);

/// The pods among `pods` to adopt. Terminating pods are not adopted.
[[nodiscard]] std::vector<PodPtr> pods_to_adopt(const std::vector<PodPtr>& pods);

}  // namespace tpuslice::raycluster
