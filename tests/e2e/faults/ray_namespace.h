// RayNamespace: a namespace of a real cluster with one RayCluster of one slice.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/client/client.h"
#include "api/types/json.h"

namespace tpuslice::testing {

/// If a read fails, functions return false or nothing. Thread-safe.
class RayNamespace {
 public:
  static constexpr int kHosts = 2;

  /// `client` outlives it.
  RayNamespace(client::Client& client, std::string name) : client_(client), name_(std::move(name)) {}
  /// Deletes the RayCluster: other tests need its nodes.
  ~RayNamespace() { static_cast<void>(remove()); }
  RayNamespace(const RayNamespace&) = delete;
  RayNamespace& operator=(const RayNamespace&) = delete;

  /// Creates the namespace and its default service account, which its controller would create late after an outage of
  /// the API server.
  Status create();
  /// Creates the RayCluster: a head and one slice of two hosts.
  Status apply();
  /// Deletes the RayCluster; the garbage collector deletes its children.
  Status remove();
  /// Deletes the children, since the garbage collector starts late after an outage of the API server.
  Status remove_children();
  /// Sets the status of an evicted pod.
  Status fail_worker(int host);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// All pods are Ready and not terminating, and the status says ready.
  [[nodiscard]] bool ready();
  /// ready(), and no worker is in `before`.
  [[nodiscard]] bool rebuilt(const std::set<std::string>& before);
  /// The RayCluster, all pods and all services are deleted.
  [[nodiscard]] bool is_deleted();
  [[nodiscard]] std::set<std::string> worker_uids();
  /// Names of all pods and services, in order.
  [[nodiscard]] std::vector<std::string> children();
  /// The state without uids, times, addresses, nodes, hashes and the name of the namespace.
  [[nodiscard]] std::string digest();

 private:
  [[nodiscard]] std::vector<Json> objects(const ResourceType& type);
  [[nodiscard]] std::vector<Json> workers();

  client::Client& client_;
  const std::string name_;
};

}  // namespace tpuslice::testing
