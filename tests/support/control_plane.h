// ControlPlane: a real Kubernetes control plane as processes of this machine, for tests and for interactive use.
//
//   ASSIGN_OR_RETURN(const auto plane, ControlPlane::start({.pools = sim::default_node_pools()}));
//   plane->client().list(kNodes);                 // as system:masters
//   run("kubectl --kubeconfig " + plane->kubeconfig() + " get nodes");
//   plane->kill_apiserver();
//   plane->start_apiserver();                     // same port, same data
//
// Runs etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok; see ControlPlaneOptions. Pods and nodes
// follow the annotations sim.tpuslice.dev/* of docs/simulator.md, as in the simulated cluster.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/client/client.h"
#include "api/client/config.h"
#include "api/http/transport.h"
#include "tests/support/control_plane_commands.h"
#include "tests/support/control_plane_files.h"
#include "tests/support/process.h"

namespace tpuslice::testing {

/// Several can run at a time. Used by one thread at a time; its client is thread-safe.
class ControlPlane {
 public:
  /// Returns when it is ready: the API server is ready, the default service account exists (with controllers), and the
  /// nodes of all pools are Ready.
  ///
  /// Errors: NotFound if programs are missing; Unavailable with the end of the log of the program that failed; then the
  /// directory is kept.
  static Result<std::unique_ptr<ControlPlane>> start(ControlPlaneOptions options = {});
  ~ControlPlane();  ///< stop()
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  /// Kills all processes and removes the directory, unless keep_dir() was called.
  void stop();
  /// Certificates, data and a log of each program.
  [[nodiscard]] const std::string& dir() const { return options_.dir; }
  void keep_dir() { options_.keep_dir = true; }

  [[nodiscard]] const std::string& server() const { return config_.server; }  ///< "https://127.0.0.1:port"
  [[nodiscard]] const std::string& authority() const { return config_.ca; }   ///< PEM
  [[nodiscard]] std::string kubeconfig() const { return dir() + "/admin.kubeconfig"; }
  [[nodiscard]] client::Client& client() { return *client_; }
  [[nodiscard]] http::Transport& transport() { return *transport_; }
  [[nodiscard]] const client::ClientConfig& config() const { return config_; }
  /// Writes a kubeconfig of a user with a client certificate. Returns its path.
  Result<std::string> user_kubeconfig(const std::string& user, const std::vector<std::string>& groups = {});
  /// Writes a kubeconfig with a token of an existing service account, and its namespace, as a pod has them. Returns its
  /// path.
  Result<std::string> service_account_kubeconfig(const ObjectKey& account);

  /// SIGKILL: connections break without a reply.
  void kill_apiserver();
  /// With the same port and data. Returns when it is ready.
  Status start_apiserver();
  /// SIGSTOP and SIGCONT of "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler" or "kwok".
  Status pause(const std::string& program);
  Status resume(const std::string& program);
  /// Null if the program was not started.
  [[nodiscard]] Process* process(const std::string& program);

  /// Creates the nodes of these pools, as in the simulated cluster; with kwok, waits until all are Ready.
  Status add_pools(const std::vector<sim::NodePool>& pools);
  /// Deletes all nodes and starts kwok again, then adds those of `pools`. No pod may be left on them.
  Status replace_pools(const std::vector<sim::NodePool>& pools);
  /// Sets the annotation of docs/simulator.md: the node is no longer Ready after ControlPlaneOptions::node_grace.
  Status lose_node(const std::string& name);
  Status return_node(const std::string& name);

  [[nodiscard]] Duration start_time() const { return start_time_; }  ///< From start() to ready.

 private:
  explicit ControlPlane(ControlPlaneOptions options) : options_(std::move(options)) {}

  Status start_all();
  Status prepare_dir();
  /// Starts again with other ports if another process took one.
  Status start_servers();
  Status connect();
  Status start_clients();
  Status start_kwok();
  void kill_kwok();
  Status launch(const std::string& program, std::vector<std::string> arguments);
  /// Polls `condition`. Errors: Timeout with `what`; Unavailable if a process exited.
  Status wait_for(const std::string& what, const std::function<bool()>& condition);
  [[nodiscard]] bool port_conflict() const;
  Status apply_crds();
  Status apply_kubelet_policy();
  Status annotate_ready(const std::string& node, const Json& value);
  Result<std::string> write_kubeconfig(const std::string& name, const std::string& user,
                                       const std::vector<std::string>& groups);

  ControlPlaneOptions options_;
  bool created_dir_ = false;
  const RealClock clock_;
  std::map<std::string, std::string> programs_;
  std::map<std::string, std::unique_ptr<Process>> processes_;
  ControlPlanePorts ports_;
  std::unique_ptr<ClusterCertificates> certificates_;
  client::ClientConfig config_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<client::Client> client_;
  int nodes_ = 0;  ///< Number of created nodes.
  Duration start_time_{};
};

}  // namespace tpuslice::testing
