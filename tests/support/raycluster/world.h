// World: one RayCluster and its children in memory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/plan/plan.h"
#include "controllers/raycluster/observed.h"
#include "controllers/raycluster/raycluster_options.h"
#include "tests/support/plan_world.h"

namespace tpuslice::raycluster {

class World final : public plan::PlanWorld {
 public:
  explicit World(Json cluster, Options options = {});

  [[nodiscard]] RayClusterObserved observed() const;
  [[nodiscard]] plan::Plan plan() const override;
  [[nodiscard]] const Object& cluster() const { return object(); }
  Object& cluster() { return object(); }

  /// As kubelets: terminating pods are deleted, all others become running and ready. As the slice controllers: gated
  /// pods do so only if their slice had no pods of other attempts. Jobs complete; if the cluster is deleted and has no
  /// finalizer, its children are deleted.
  void advance() override;
  /// As kubectl delete: the cluster is held by its finalizers.
  void delete_cluster();

  /// Adds a pod, service or other child and sets its uid.
  void add_pod(Json pod) { add(kPods, std::move(pod)); }
  void add_service(Json service) { add(kServices, std::move(service)); }
  void add_child(Json child);

  /// Names of all pods that are not terminating, and of all other children, to compare two worlds.
  [[nodiscard]] std::vector<std::string> children() const;
  [[nodiscard]] const Objects& pods() const { return objects(kPods); }
  /// "<group>/<replica>/<attempt>" of a worker; empty for other pods.
  [[nodiscard]] std::string attempt_of(const std::string& pod) const;

  /// Violations of safety so far: an ungated pod of a slice of several hosts created for a host that has one, or while
  /// the slice is running; a cleanup of Redis while a head exists.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  void prepare(const ResourceType& type, Json& created) override;
  void check_host(const Json& pod);
  /// Has another owner.
  [[nodiscard]] bool is_foreign(const Json& pod) const;

  Options options_;
  mutable std::map<std::string, std::shared_ptr<const PodView>> views_;  ///< Decoded pods, until they change.
  std::vector<std::string> violations_;
};

/// "<group>/<replica>" of a worker's labels; empty without.
[[nodiscard]] std::string slice_of(const Json& pod);

/// "<group>/<replica>/<host>" of a pod's labels; empty if they do not say.
[[nodiscard]] std::string host_of(const Json& pod);

}  // namespace tpuslice::raycluster
