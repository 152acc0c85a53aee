// The programs of a control plane: their paths and arguments.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/result.h"
#include "cmd/tpu-slice-sim/cluster/nodes/node_pools.h"

namespace tpuslice::testing {

struct ControlPlaneOptions {
  std::string dir = {};     ///< For certificates, data and logs; created. Empty: a new temporary directory.
  bool keep_dir = false;    ///< Do not remove it. ControlPlane::keep_dir() does the same later, for failed tests.
  bool controllers = true;  ///< Run kube-controller-manager. Without it: no garbage collection, no service accounts.
  bool scheduler = true;    ///< Run kube-scheduler.
  bool kwok = true;         ///< Run kwok, with the stages of tests/controlplane/stages.
  std::string address = "127.0.0.1";  ///< Address of the API server for pods. Another is that of real kubelets, which
                                      ///< replace kwok; see tests/nodes.
  bool priority_and_fairness = true;  ///< Of the API server.
  int gogc = 400;                     ///< GOGC of all programs: more memory, less CPU. Go's default is 100.
  int client_qps = 500;               ///< Of controllers and scheduler; their defaults are 20 and 50.
  std::vector<sim::NodePool> pools = {};  ///< Their nodes are created at the start.
  std::vector<std::string> crds = {};     ///< YAML files, applied before the controllers start: the garbage collector
                                          ///< discovers new kinds only every 30 seconds.
  Duration node_grace = std::chrono::seconds(40);  ///< Time without heartbeat after which a node is lost; whole
                                                   ///< seconds. The shorter, the more heartbeats.
  Duration start_limit = std::chrono::seconds(60);
  std::vector<std::string> etcd_flags = {};  ///< Additional flags: {"--flag=value"}.
  std::vector<std::string> apiserver_flags = {};
  std::vector<std::string> controller_flags = {};
  std::vector<std::string> scheduler_flags = {};

  [[nodiscard]] bool real_kubelets() const { return address != "127.0.0.1"; }
};

/// Program to path, as found by tests/controlplane/assets.sh. Errors: NotFound with one line that names what is
/// missing.
[[nodiscard]] Result<std::map<std::string, std::string>> control_plane_programs();

/// The folder tests/controlplane.
[[nodiscard]] std::string control_plane_sources();

struct ControlPlanePorts {
  int etcd = 0;
  int etcd_peer = 0;
  int apiserver = 0;
};

/// Free ports of 127.0.0.1 outside of the ephemeral range, so that a restarted API server can bind its port again. If
/// another process takes a port first, the program exits with an error.
[[nodiscard]] Result<ControlPlanePorts> free_ports();
/// Whether a process listens on `port`.
[[nodiscard]] bool accepts_connections(int port);

// Arguments. `dir` holds the files of ClusterCertificates and <program>.kubeconfig.

[[nodiscard]] std::vector<std::string> etcd_arguments(const ControlPlaneOptions& options, const std::string& dir,
                                                      const ControlPlanePorts& ports);
[[nodiscard]] std::vector<std::string> apiserver_arguments(const ControlPlaneOptions& options, const std::string& dir,
                                                           const ControlPlanePorts& ports);
[[nodiscard]] std::vector<std::string> controller_arguments(const ControlPlaneOptions& options, const std::string& dir);
[[nodiscard]] std::vector<std::string> scheduler_arguments(const ControlPlaneOptions& options, const std::string& dir);
/// Uses <dir>/stages.yaml.
[[nodiscard]] std::vector<std::string> kwok_arguments(const ControlPlaneOptions& options, const std::string& dir);

}  // namespace tpuslice::testing
