// Replicas: the pods of the operator's Deployment, as processes, behind a load balancer that is its webhook's Service.
//
//   ASSIGN_OR_RETURN(const Release earlier, earlier_release());
//   RETURN_IF_ERROR(replicas.install(earlier));      // its manifests
//   RETURN_IF_ERROR(replicas.roll_out(earlier));     // two replicas, both ready
//   RETURN_IF_ERROR(replicas.install(this_release()));
//   RETURN_IF_ERROR(replicas.roll_out(this_release()));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/load_balancer.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {

/// A version of the operator: its program and its manifests.
struct Release {
  std::string name;
  std::string program;
  std::string deploy;              ///< Folder with crds, rbac, operator and webhook.
  bool has_metrics_secure = true;  ///< It has the flag --metrics-secure.
};

/// Of this build.
[[nodiscard]] Release this_release();
/// The one that tests/upgrade/build.sh builds. Errors: NotFound with one line that names the remedy.
[[nodiscard]] Result<Release> earlier_release();

/// Used by one thread at a time.
class Replicas {
 public:
  explicit Replicas(ControlPlane& plane) : plane_(plane) {}

  /// Applies the manifests, as `kubectl apply --server-side`. The webhook configurations get the load balancer's
  /// address.
  Status install(const Release& release);
  /// As a rolling update of the Deployment with two replicas: one more is started and gets ready, then an old one is
  /// stopped, until all are of `release`.
  Status roll_out(const Release& release);

  /// The replica that leads; null if none does.
  [[nodiscard]] OperatorProcess* leader();
  /// Another replica; null if there is none.
  [[nodiscard]] OperatorProcess* other_than(const OperatorProcess* replica);
  /// Stops the replica, or kills it, without a successor.
  Status remove(OperatorProcess* replica, bool crash);

 private:
  struct Replica {
    std::unique_ptr<OperatorProcess> process;
    int webhook_port = 0;
  };

  Status apply_webhook(const Release& release);
  Status start(const Release& release);
  /// SIGTERM. New connections reach it until the endpoints are updated.
  Status stop(Replica replica);
  void update_endpoints();

  ControlPlane& plane_;
  std::string kubeconfig_;
  std::unique_ptr<LoadBalancer> balancer_;
  std::vector<Replica> replicas_;
  int started_ = 0;
};

}  // namespace tpuslice::testing
