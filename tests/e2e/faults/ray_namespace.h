// RayNamespace: a namespace of a real cluster with one RayCluster of one slice in it, and what is to be seen there.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/client/client.h"
#include "api/types/json.h"

namespace tpuslice::testing {

/// Questions that the server does not answer are answered with no, or nothing. Thread-safe.
class RayNamespace {
 public:
  static constexpr int kHosts = 2;

  /// `client` outlives it.
  RayNamespace(client::Client& client, std::string name) : client_(client), name_(std::move(name)) {}
  /// Deletes the RayCluster: others need the nodes.
  ~RayNamespace() { static_cast<void>(remove()); }
  RayNamespace(const RayNamespace&) = delete;
  RayNamespace& operator=(const RayNamespace&) = delete;

  /// Makes the namespace, and the service account of its pods: the controller that would takes its time after the API
  /// server was away.
  Status make();
  /// Makes the RayCluster: a head and one slice of two hosts.
  Status apply();
  /// Deletes it; what it owns is left to the garbage collector.
  Status remove();
  /// Does the garbage collector's work, which takes long to begin after the API server was away.
  Status remove_children();
  /// As a kubelet says of a pod that it has evicted.
  Status fail_worker(int host);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Every pod is there, Ready and not about to go, and the status says so.
  [[nodiscard]] bool ready();
  /// ready(), with workers of which none is in `before`.
  [[nodiscard]] bool rebuilt(const std::set<std::string>& before);
  /// Neither the RayCluster nor a pod or a service is left.
  [[nodiscard]] bool gone();
  [[nodiscard]] std::set<std::string> worker_uids();
  /// Names of all pods and services, in order.
  [[nodiscard]] std::vector<std::string> children();
  /// What users can tell apart in a finished state: no uids, times, addresses and nodes, and names that are the same
  /// for every namespace.
  [[nodiscard]] std::string digest();

 private:
  [[nodiscard]] std::vector<Json> objects(const ResourceType& type);
  [[nodiscard]] std::vector<Json> workers();

  client::Client& client_;
  const std::string name_;
};

}  // namespace tpuslice::testing
