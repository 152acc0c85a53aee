// ControlPlane: a real Kubernetes control plane as plain processes of this machine, for one test or for people.
//
//   ASSIGN_OR_RETURN(const auto plane, ControlPlane::start({.pools = sim::default_node_pools()}));
//   plane->client().list(kNodes);                 // as system:masters
//   run("kubectl --kubeconfig " + plane->kubeconfig() + " get nodes");
//   plane->kill_apiserver();
//   plane->start_apiserver();                     // same port, same data
//
// etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok; see ControlPlaneOptions. Pods and nodes take
// the commands of the simulated cluster: the annotations sim.tpuslice.dev/* of docs/simulator.md.
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

/// Several can run side by side. Used from one thread at a time; its client from any.
class ControlPlane {
 public:
  /// Returns when it is ready: the API server answers, the default service account is there (with controllers), the
  /// nodes of all pools are Ready.
  ///
  /// Errors: NotFound when programs are missing; Unavailable with the end of the log of the program that failed, and
  /// the directory is left behind.
  static Result<std::unique_ptr<ControlPlane>> start(ControlPlaneOptions options = {});
  ~ControlPlane();  ///< stop()
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  /// Ends all processes, and removes the directory unless it is to be kept.
  void stop();
  /// Certificates, data and a log of each program: for looking into what failed.
  [[nodiscard]] const std::string& dir() const { return options_.dir; }
  void keep_dir() { options_.keep_dir = true; }

  [[nodiscard]] const std::string& server() const { return config_.server; }  ///< "https://127.0.0.1:port"
  [[nodiscard]] const std::string& authority() const { return config_.ca; }   ///< PEM
  [[nodiscard]] std::string kubeconfig() const { return dir() + "/admin.kubeconfig"; }
  [[nodiscard]] client::Client& client() { return *client_; }
  [[nodiscard]] http::Transport& transport() { return *transport_; }
  [[nodiscard]] const client::ClientConfig& config() const { return config_; }
  /// A kubeconfig of any user, who proves it with a certificate. Returns its path.
  Result<std::string> user_kubeconfig(const std::string& user, const std::vector<std::string>& groups = {});
  /// A kubeconfig with a token of a service account, which has to exist. Returns its path.
  Result<std::string> service_account_kubeconfig(const ObjectKey& account);

  /// SIGKILL: connections break, nothing is said.
  void kill_apiserver();
  /// The port and the data are the same. Returns when it is ready again.
  Status start_apiserver();
  /// SIGSTOP and SIGCONT of "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler" or "kwok".
  Status pause(const std::string& program);
  Status resume(const std::string& program);
  /// Null if it was not started.
  [[nodiscard]] Process* process(const std::string& program);

  /// Makes the nodes of these pools, as the simulated cluster has them; with kwok, waits until all are Ready.
  Status add_pools(const std::vector<sim::NodePool>& pools);
  /// The annotation of docs/simulator.md: its lease ends, and after ControlPlaneOptions::node_grace it is NotReady.
  Status lose_node(const std::string& name);
  Status return_node(const std::string& name);

  [[nodiscard]] Duration start_time() const { return start_time_; }  ///< From start() to ready.

 private:
  explicit ControlPlane(ControlPlaneOptions options) : options_(std::move(options)) {}

  Status bring_up();
  Status prepare_dir();
  /// Once more with other ports where somebody else took one.
  Status start_servers();
  Status connect();
  Status start_clients();
  Status launch(const std::string& program, std::vector<std::string> arguments);
  /// Asks again and again, as long as every process runs. Errors: Timeout with `what`; Unavailable.
  Status wait_for(const std::string& what, const std::function<bool()>& condition);
  [[nodiscard]] bool lost_a_port() const;
  Status apply_crds();
  Status apply_kubelet_policy();
  Status annotate_ready(const std::string& node, const Json& value);
  Status wait_for_nodes();
  Result<std::string> write_kubeconfig(const std::string& name, const std::string& user,
                                       const std::vector<std::string>& groups);

  ControlPlaneOptions options_;
  bool made_dir_ = false;
  const RealClock clock_;
  std::map<std::string, std::string> programs_;
  std::map<std::string, std::unique_ptr<Process>> processes_;
  ControlPlanePorts ports_;
  std::unique_ptr<ClusterCertificates> certificates_;
  client::ClientConfig config_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<client::Client> client_;
  int nodes_ = 0;  ///< Made so far.
  Duration start_time_{};
};

}  // namespace tpuslice::testing
