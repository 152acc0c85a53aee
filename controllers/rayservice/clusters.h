// The RayClusters of a RayService, as observed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controllers/raycluster/rules/spec.h"
#include "controllers/rayservice/observed.h"

namespace tpuslice::rayservice {

struct Cluster {
  Object object;
  raycluster::RayClusterSpec spec;  ///< Borrows from `object`.
  std::vector<PodPtr> pods;         ///< Including terminating ones.
  PodPtr head;                      ///< Null without.

  [[nodiscard]] const std::string& name() const { return spec.key.name; }
  [[nodiscard]] std::string annotation(std::string_view key) const { return object.annotation(key); }
  [[nodiscard]] bool terminating() const { return object.deletion_timestamp().has_value(); }
  [[nodiscard]] bool head_ready() const { return head != nullptr && head->phase == PodPhase::kRunning && head->ready; }
};

/// Pods that the serve service selects and that are ready: its endpoints, once it selects the cluster.
[[nodiscard]] int serve_endpoints(const Cluster& cluster);

/// Sorted by name. Copies of the vector must not outlive it: specs borrow from it.
class Clusters {
 public:
  explicit Clusters(const RayServiceObserved& seen);
  Clusters(const Clusters&) = delete;
  Clusters& operator=(const Clusters&) = delete;

  [[nodiscard]] const std::vector<Cluster>& all() const { return all_; }
  /// Null if there is none of this name, or it is terminating.
  [[nodiscard]] const Cluster* find_alive(std::string_view name) const;
  /// The cluster of this name, which may be terminating.
  [[nodiscard]] const Cluster* find(std::string_view name) const;

 private:
  std::vector<Cluster> all_;
};

}  // namespace tpuslice::rayservice
