// Hashes of rayClusterConfig: whether a RayCluster has it, can be brought up to date, or must be replaced.
//
// As upstream, numbers of replicas, workersToDelete, the upgrade strategy, `suspend`, tolerations and scheduling gates
// do not count: raycluster::spec_hash(). The hash is our own, so it is compared only with those of clusters whose
// annotation kClusterHashVersion says that it is. A cluster of another operator is brought up to date in place.
#pragma once

#include <cstddef>
#include <string>

#include "api/types/json.h"
#include "controllers/rayservice/clusters.h"

namespace tpuslice::rayservice {

class ConfigHash {
 public:
  /// `config` outlives it.
  explicit ConfigHash(const Json& config);

  [[nodiscard]] const std::string& whole() const { return whole_; }
  /// [replicas, minReplicas, maxReplicas] of each group, by name, as written.
  [[nodiscard]] const Json& replicas() const { return replicas_; }
  [[nodiscard]] std::size_t groups() const;

  /// The cluster was made from this config.
  [[nodiscard]] bool matches(const Cluster& cluster) const;
  /// The config is that of the cluster with more worker groups at the end.
  [[nodiscard]] bool appends_groups(const Cluster& cluster) const;
  /// The cluster matches, or needs only more groups. One that another operator made has no hash of ours: then its
  /// specification is compared.
  [[nodiscard]] bool fits(const Cluster& cluster) const;

 private:
  const Json& config_;
  const std::string whole_;
  const Json replicas_;
};

/// Made by an operator with another hash.
[[nodiscard]] bool is_of_other_operator(const Cluster& cluster);

}  // namespace tpuslice::rayservice
