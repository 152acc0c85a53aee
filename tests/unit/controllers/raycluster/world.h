// World: one RayCluster and its children in memory. Applies actions as an API server would.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/plan/plan.h"
#include "controllers/raycluster/observed.h"
#include "controllers/raycluster/raycluster_options.h"

namespace tpuslice::raycluster {

class World {
 public:
  explicit World(Json cluster, Options options = {});

  [[nodiscard]] RayClusterObserved observed() const;
  [[nodiscard]] const Object& cluster() const { return cluster_; }
  Object& cluster() { return cluster_; }

  /// As the API server: a create of an existing object does nothing, a delete or patch needs its uid, a deleted pod is
  /// terminating first.
  void apply(const plan::Action& action);
  void apply(const plan::StatusPatch& status);
  /// As kubelets: terminating pods are deleted, all others become running and ready. As the slice controller: gated
  /// pods do so only if their slice had no pods of other attempts. Jobs complete; if the cluster is deleted and has no
  /// finalizer, its children are deleted.
  void advance();
  /// As kubectl delete: the cluster is held by its finalizers.
  void delete_cluster();
  /// Deleted, and nothing holds it any more.
  [[nodiscard]] bool gone() const;

  /// Adds a pod, service or other child and sets its uid.
  void add_pod(Json pod);
  void add_service(Json service);
  void add_child(Json child);

  /// Names of all pods that are not terminating, and of all other children, to compare two worlds.
  [[nodiscard]] std::vector<std::string> children() const;
  [[nodiscard]] const std::map<std::string, Json>& pods() const { return pods_; }
  /// "<group>/<replica>/<attempt>" of a worker; empty for other pods.
  [[nodiscard]] std::string attempt_of(const std::string& pod) const;
  /// Children other than pods and services, by name: of_kind("Job").
  [[nodiscard]] std::map<std::string, Json> of_kind(const std::string& kind) const {
    const auto found = others_.find(kind);
    return found == others_.end() ? std::map<std::string, Json>() : found->second;
  }

  /// Violations of safety so far: an ungated pod of a slice of several hosts created for a host that has one, or while
  /// the slice is running; a cleanup of Redis while a head exists.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] std::size_t writes() const { return writes_; }
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  [[nodiscard]] std::map<std::string, Json>& objects_of(const ResourceType& type);
  void patch_cluster(const plan::Action& action);
  void create(const plan::Action& action);
  void check_host(const Json& pod);
  /// Has another owner.
  [[nodiscard]] bool is_foreign(const Json& pod) const;

  Object cluster_;
  Options options_;
  std::map<std::string, Json> pods_;
  std::map<std::string, Json> services_;
  std::map<std::string, std::map<std::string, Json>> others_;            ///< By kind and name.
  mutable std::map<std::string, std::shared_ptr<const PodView>> views_;  ///< Decoded pods, until they change.
  Timestamp now_;
  std::size_t next_uid_ = 1;
  std::size_t version_ = 1;
  std::size_t writes_ = 0;
  std::vector<std::string> violations_;
};

/// "<group>/<replica>" of a worker's labels; empty without.
[[nodiscard]] std::string slice_of(const Json& pod);

/// "<group>/<replica>/<host>" of a pod's labels; empty if they do not say.
[[nodiscard]] std::string host_of(const Json& pod);

}  // namespace tpuslice::raycluster
