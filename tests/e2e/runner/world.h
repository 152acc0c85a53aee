// World: the cluster that scenarios run in. A program links either simulated_world.cpp or real_world.cpp.
#pragma once

#include <memory>
#include <string>

#include "api/client/client.h"
#include "api/types/json.h"

namespace tpuslice::e2e {

/// Of an autoscaler, which scenarios may have.
inline constexpr const char* kProvisioningRequestCrd = "tests/kueue/provisioning_request_crd.yaml";

/// Has no operator, but the CRDs, namespace and RBAC of deploy/, and kProvisioningRequestCrd. Stops when destroyed.
/// Used by one thread at a time; its client is thread-safe.
class World {
 public:
  virtual ~World() = default;
  /// Directory of the logs; removed with the world unless keep() was called.
  [[nodiscard]] virtual const std::string& dir() const = 0;
  virtual void keep() = 0;
  /// Of the administrator, over HTTPS. Calls fail while the API server is down.
  [[nodiscard]] virtual client::Client& client() = 0;
  /// Path of a kubeconfig of the administrator.
  [[nodiscard]] virtual std::string kubeconfig() const = 0;
  /// Path of a kubeconfig of the operator's service account.
  [[nodiscard]] virtual std::string operator_kubeconfig() const = 0;
  /// Connections break without a reply.
  virtual void kill_apiserver() = 0;
  /// At the same address with the same data; earlier resourceVersions have expired.
  virtual Status start_apiserver() = 0;
  /// Replaces all nodes; no pod may be left on them. Errors: Unsupported if the world must be started again instead.
  virtual Status replace_pools(const Json& pools) = 0;

  /// Of the last scenario; empty before the first. The namespace controller begins five seconds after the request, so
  /// the next scenario starts meanwhile, and checks at its end that it is deleted.
  std::string terminating_namespace = {};
};

/// `pools` as in Scenario. Errors: NotFound if programs of the control plane are missing.
[[nodiscard]] Result<std::unique_ptr<World>> start_world(const Json& pools);

}  // namespace tpuslice::e2e
