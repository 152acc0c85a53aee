// NodeCluster: a Kubernetes cluster of this machine with real kubelets, containers and pod networks; see README.md.
//
//   ASSIGN_OR_RETURN(const auto cluster, NodeCluster::start({.pools = pools, .images = {"busybox"}}));
//   cluster->client().list(kPods);
//   cluster->node("v6e-0").kill();            // the node is lost
//   cluster->node("v6e-0").boot();
//
// A program that uses it runs in the namespaces that tests/nodes/run.sh makes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/nodes/real_node.h"
#include "tests/support/control_plane.h"

namespace tpuslice::testing {

struct NodeClusterOptions {
  std::vector<sim::NodePool> pools = {};          ///< Each of their nodes is real.
  std::vector<std::string> images = {"busybox"};  ///< Of tests/nodes/images, on all nodes.
  std::string disk = {};                          ///< Size of the disk of a node, like "512m"; empty: this machine's.
  ControlPlaneOptions plane = {};                 ///< Its directory, pools and address are set by the cluster.
  Duration start_limit = std::chrono::seconds(180);  ///< Until all nodes are Ready.
};

/// A control plane, CoreDNS and nodes. Used by one thread at a time; its client is thread-safe.
class NodeCluster {
 public:
  /// Returns when all nodes are Ready and have their TPUs.
  ///
  /// Errors: NotFound outside of run.sh, or if programs or images are missing; Unavailable and Timeout, after which the
  /// directory is kept.
  static Result<std::unique_ptr<NodeCluster>> start(NodeClusterOptions options);
  ~NodeCluster() = default;
  NodeCluster(const NodeCluster&) = delete;
  NodeCluster& operator=(const NodeCluster&) = delete;

  [[nodiscard]] ControlPlane& plane() { return *plane_; }
  [[nodiscard]] client::Client& client() { return plane_->client(); }
  /// Of the administrator, for programs in our network namespace.
  [[nodiscard]] std::string kubeconfig() const { return plane_->kubeconfig(); }
  [[nodiscard]] Duration start_time() const { return start_time_; }
  /// Keeps the directory, with the log of each program, for failed tests.
  void keep_dir();

  /// Starts another node without waiting for it.
  Status add_node(const sim::NodePool& pool, int host);
  /// Until all nodes are Ready, schedulable and have all chips that are healthy. Errors: Timeout.
  Status wait_until_ready(Duration limit);
  /// The node exists.
  [[nodiscard]] RealNode& node(const std::string& name) { return *nodes_.at(name); }
  [[nodiscard]] const std::map<std::string, std::unique_ptr<RealNode>>& nodes() const { return nodes_; }

  /// Adds the images of an archive to all nodes.
  Status import_image(const std::string& archive);
  /// Sends a signal to a container's first process. Errors: NotFound if the pod or container does not run.
  Status kill_container(const ObjectKey& pod, const std::string& container, int number = SIGKILL);

 private:
  explicit NodeCluster(NodeClusterOptions options) : options_(std::move(options)) {}

  Status start_all();
  Status start_dns();
  /// A kubeconfig with the address that nodes use. Returns its path.
  Result<std::string> kubeconfig_for_nodes(const std::string& user, const std::vector<std::string>& groups);
  /// What the node has not yet; empty if it is ready.
  [[nodiscard]] std::string missing_on(const Json& node) const;

  NodeClusterOptions options_;
  const RealClock clock_;
  NodePrograms files_;
  std::map<std::string, int> chips_;  ///< By node.
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<Process> dns_;
  std::map<std::string, std::unique_ptr<RealNode>> nodes_;  ///< By name; they end first.
  Duration start_time_{};
};

}  // namespace tpuslice::testing
