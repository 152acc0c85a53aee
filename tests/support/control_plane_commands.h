// The programs of a control plane: where they are, and the command line of each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/result.h"
#include "api/sim/cluster/node_pools.h"

namespace tpuslice::testing {

struct ControlPlaneOptions {
  std::string dir = {};     ///< For certificates, data and logs; made. Empty: a new one among the temporary files.
  bool keep_dir = false;    ///< Leave it behind. keep_dir() does the same later: when a test has failed.
  bool controllers = true;  ///< Run kube-controller-manager. Without it: no garbage collection, no service accounts.
  bool scheduler = true;    ///< Run kube-scheduler.
  bool kwok = true;         ///< Run kwok, with the stages of tests/controlplane/stages.
  bool priority_and_fairness = true;      ///< Of the API server.
  int client_qps = 500;                   ///< Of controllers and scheduler, which by default have 20 and 50.
  std::vector<sim::NodePool> pools = {};  ///< Whose nodes are made at the start.
  std::vector<std::string> crds = {};     ///< YAML files, applied before the controllers start: the garbage collector
                                          ///< looks for new kinds only every 30 seconds.
  Duration node_grace = std::chrono::seconds(10);  ///< Silence after which a node counts as lost; whole seconds.
  Duration start_limit = std::chrono::seconds(60);
  std::vector<std::string> etcd_flags = {};  ///< Added to ours, as the following: {"--flag=value"}.
  std::vector<std::string> apiserver_flags = {};
  std::vector<std::string> controller_flags = {};
  std::vector<std::string> scheduler_flags = {};
};

/// Program to path, as tests/controlplane/assets.sh finds them. Errors: NotFound saying in one line what is missing.
[[nodiscard]] Result<std::map<std::string, std::string>> control_plane_programs();

/// The folder tests/controlplane.
[[nodiscard]] std::string control_plane_sources();

struct ControlPlanePorts {
  int etcd = 0;
  int etcd_peer = 0;
  int apiserver = 0;
};

/// Free ports of 127.0.0.1, outside of the range that outgoing connections take theirs from: an API server that comes
/// back must find its port free. Another process may still be faster; then the program says so and ends.
[[nodiscard]] Result<ControlPlanePorts> free_ports();
/// Whether somebody listens there.
[[nodiscard]] bool accepts_connections(int port);

// Arguments. `dir` holds the files of ClusterCertificates and <program>.kubeconfig.

[[nodiscard]] std::vector<std::string> etcd_arguments(const ControlPlaneOptions& options, const std::string& dir,
                                                      const ControlPlanePorts& ports);
[[nodiscard]] std::vector<std::string> apiserver_arguments(const ControlPlaneOptions& options, const std::string& dir,
                                                           const ControlPlanePorts& ports);
[[nodiscard]] std::vector<std::string> controller_arguments(const ControlPlaneOptions& options, const std::string& dir);
[[nodiscard]] std::vector<std::string> scheduler_arguments(const ControlPlaneOptions& options, const std::string& dir);
/// With <dir>/stages.yaml.
[[nodiscard]] std::vector<std::string> kwok_arguments(const ControlPlaneOptions& options, const std::string& dir);

}  // namespace tpuslice::testing
