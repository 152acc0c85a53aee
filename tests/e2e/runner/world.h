// World: a cluster that scenarios are played in, as processes and people outside of it see it. Two kinds of it:
// simulated_world.cpp and real_world.cpp; a program is linked with one.
#pragma once

#include <memory>
#include <string>

#include "api/client/client.h"
#include "api/types/json.h"

namespace tpuslice::e2e {

/// Without an operator, but with what deploy/ installs before one: definitions, namespace, rights. Ends with this
/// object. From one thread at a time; its client from any.
class World {
 public:
  virtual ~World() = default;
  /// Logs are there; removed with the world unless keep().
  [[nodiscard]] virtual const std::string& dir() const = 0;
  virtual void keep() = 0;
  /// As administrator, over HTTPS. Calls fail while the API server is away.
  [[nodiscard]] virtual client::Client& client() = 0;
  /// Path of a kubeconfig of the administrator.
  [[nodiscard]] virtual std::string kubeconfig() const = 0;
  /// Path of one of the operator's service account.
  [[nodiscard]] virtual std::string operator_kubeconfig() const = 0;
  /// Connections break, nothing is said.
  virtual void kill_apiserver() = 0;
  /// At the same address with the same data; watches from before are too old.
  virtual Status start_apiserver() = 0;
};

/// `pools` as those of a Scenario. Errors: NotFound where programs are missing that it needs.
[[nodiscard]] Result<std::unique_ptr<World>> start_world(const Json& pools);

}  // namespace tpuslice::e2e
