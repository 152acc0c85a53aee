// World: one RayCluster and its children, in memory. Carries out actions as an API server would, one by one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/raycluster/observed.h"
#include "controllers/runtime/plan.h"

namespace tpuslice::raycluster {

class World {
 public:
  explicit World(Json cluster);

  [[nodiscard]] RayClusterObserved observed() const;
  [[nodiscard]] const Object& cluster() const { return cluster_; }
  Object& cluster() { return cluster_; }

  /// What the API server does: a create of what exists does nothing, a delete or patch needs its uid, a deleted pod
  /// terminates first.
  void apply(const runtime::Action& action);
  void apply(const runtime::StatusPatch& status);
  /// What kubelets do: terminating pods go, all others run and are ready.
  void advance();

  /// Puts a pod or service there as it is; it gets a uid.
  void add_pod(Json pod);
  void add_service(Json service);

  /// Names of all pods that are not terminating, and of all services: what two worlds are compared by.
  [[nodiscard]] std::vector<std::string> children() const;
  [[nodiscard]] const std::map<std::string, Json>& pods() const { return pods_; }

  /// Breaches of safety so far: a pod created beside another that has its place in the slice, or into a slice that runs
  /// already.
  [[nodiscard]] const std::vector<std::string>& breaches() const { return breaches_; }
  [[nodiscard]] std::size_t writes() const { return writes_; }

 private:
  void create(const runtime::Action& action);
  void check_place(const Json& pod);

  Object cluster_;
  std::map<std::string, Json> pods_;
  std::map<std::string, Json> services_;
  mutable std::map<std::string, std::shared_ptr<const PodView>> views_;  ///< Decoded pods, until they change.
  Timestamp now_;
  std::size_t next_uid_ = 1;
  std::size_t writes_ = 0;
  std::vector<std::string> breaches_;
};

/// "<group>/<replica>" of a worker's labels, or empty if it has none.
[[nodiscard]] std::string slice_of(const Json& pod);

/// "<group>/<replica>/<host>" of a pod's labels, or empty if it has no place.
[[nodiscard]] std::string place_of(const Json& pod);

}  // namespace tpuslice::raycluster
