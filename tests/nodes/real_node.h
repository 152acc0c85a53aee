// RealNode: a node of a NodeCluster, with a real kubelet, as processes in namespaces of its own; see node.sh.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "api/base/result.h"
#include "cmd/tpu-slice-sim/cluster/nodes/node_pools.h"
#include "tests/support/process.h"

namespace tpuslice::testing {

/// What tests/nodes/assets.sh prints.
struct NodePrograms {
  std::string programs;  ///< Directory of the programs of nodes.
  std::string images;    ///< Store of images that nodes start with.
};

/// Errors: NotFound with one line that names what is missing, also of these images.
[[nodiscard]] Result<NodePrograms> find_node_programs(const std::vector<std::string>& images);

struct RealNodeOptions {
  std::string dir;         ///< For its files and logs, which outlive it; created.
  std::string kubeconfig;  ///< Of its kubelet.
  std::string proxy_kubeconfig;
  NodePrograms files;
  std::string disk = {};  ///< Size of its disk, like "512m"; empty: that of `dir`.
  sim::NodePool pool;
  Json node;      ///< As make_node() returned it: name, address and pod network.
  int index = 0;  ///< In the cluster.
};

/// Used by one thread at a time. Errors of faults: Unavailable with what the command printed.
class RealNode {
 public:
  static Result<std::unique_ptr<RealNode>> start(RealNodeOptions options);

  [[nodiscard]] std::string name() const;
  /// The machine is lost: all processes end at once.
  void kill() { process_.reset(); }
  /// It boots again, with its disk.
  Status boot();

  /// The process of "kubelet", "containerd", "kube-proxy" or "device_plugin"; 0 if it does not run.
  [[nodiscard]] pid_t pid(const std::string& program) const;
  /// Sends it a signal. A program that ends is restarted.
  Status signal(const std::string& program, int number);
  /// The network to all others, the API server included.
  Status set_network(bool up);
  /// Sends a signal to the first process of a container, by the id in its status.
  Status kill_container(const std::string& id, int number = SIGKILL);
  /// The device plugin reports these chips as unhealthy, and all others as healthy.
  Status mark_unhealthy(const std::vector<int>& chips);
  /// Adds the images of an archive.
  Status import_image(const std::string& archive);
  /// What a command of the shell prints on the node.
  Result<std::string> run(const std::string& command);

 private:
  explicit RealNode(RealNodeOptions options) : options_(std::move(options)) {}
  Status write_settings() const;
  /// The processes of a cgroup of the node.
  [[nodiscard]] std::vector<pid_t> processes(const std::string& cgroup) const;

  const RealNodeOptions options_;
  std::unique_ptr<Process> process_;
};

}  // namespace tpuslice::testing
