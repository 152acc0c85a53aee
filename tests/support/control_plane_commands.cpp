#include "tests/support/control_plane_commands.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "tests/support/control_plane_files.h"
#include "tests/support/process.h"

namespace tpuslice::testing {
namespace {

/// The stages label nodes that shall be lost; kwok does not manage these.
constexpr const char* kNotLost = "!sim.tpuslice.dev/lost";

std::int64_t whole_seconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

std::vector<std::string> with_flags(std::vector<std::string> arguments, const std::vector<std::string>& added) {
  arguments.insert(arguments.end(), added.begin(), added.end());
  return arguments;
}

/// Whether bind() or connect() of a new socket succeeds for 127.0.0.1:port.
bool try_port(int port, int (*call)(int, const sockaddr*, socklen_t)) {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool succeeded = call(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;  // NOLINT
  close(file);
  return succeeded;
}

/// The first port of the ephemeral range.
int first_ephemeral_port() {
  std::ifstream in("/proc/sys/net/ipv4/ip_local_port_range");
  int first = 0;
  return in >> first ? first : 32768;
}

std::string client_limits(const ControlPlaneOptions& options, const char* flag, int factor) {
  return fmt::format("--kube-api-{}={}", flag, options.client_qps * factor);
}

}  // namespace

std::string control_plane_sources() { return TPUSLICE_CONTROLPLANE_SOURCES; }

Result<std::map<std::string, std::string>> control_plane_programs() {
  const auto output = output_of("'" + control_plane_sources() + "/assets.sh'");
  if (!output) {
    const std::string& lines = output.error().message();
    return Error::not_found("{}", lines.substr(lines.rfind('\n') + 1));
  }
  std::map<std::string, std::string> programs;
  std::istringstream lines(*output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    programs[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return programs;
}

Result<ControlPlanePorts> free_ports() {
  const int min = 10'000;
  const int max = first_ephemeral_port() - 1;
  if (max - min < 100) return Error::unavailable("the ephemeral ports begin at {}: no ports below", max + 1);
  std::random_device random;
  std::uniform_int_distribution<int> any(min, max);
  std::set<int> found;
  for (int tries = 0; tries < 1000 && found.size() < 3; ++tries) {
    const int port = any(random);
    if (try_port(port, bind)) found.insert(port);
  }
  if (found.size() < 3) return Error::unavailable("no free ports between {} and {}", min, max);
  auto next = found.begin();
  return ControlPlanePorts{.etcd = *next++, .etcd_peer = *next++, .apiserver = *next};
}

bool accepts_connections(int port) { return try_port(port, connect); }

std::vector<std::string> etcd_arguments(const ControlPlaneOptions& options, const std::string& dir,
                                        const ControlPlanePorts& ports) {
  const std::string clients = fmt::format("http://127.0.0.1:{}", ports.etcd);
  const std::string peers = fmt::format("http://127.0.0.1:{}", ports.etcd_peer);
  return with_flags(
      {"--data-dir=" + dir + "/etcd", "--listen-client-urls=" + clients, "--advertise-client-urls=" + clients,
       "--listen-peer-urls=" + peers, "--initial-advertise-peer-urls=" + peers, "--initial-cluster=default=" + peers,
       "--unsafe-no-fsync", "--log-level=warn"},
      options.etcd_flags);
}

std::vector<std::string> apiserver_arguments(const ControlPlaneOptions& options, const std::string& dir,
                                             const ControlPlanePorts& ports) {
  std::vector<std::string> arguments = {
      fmt::format("--etcd-servers=http://127.0.0.1:{}", ports.etcd),
      // If another control plane took our port of etcd, its data is separate from ours.
      "--etcd-prefix=/registry" + dir,
      fmt::format("--secure-port={}", ports.apiserver),
      std::string("--bind-address=") + (options.real_kubelets() ? "0.0.0.0" : "127.0.0.1"),
      "--advertise-address=" + options.address,
      std::string("--endpoint-reconciler-type=") + (options.real_kubelets() ? "lease" : "none"),
      "--tls-cert-file=" + dir + "/apiserver.crt",
      "--tls-private-key-file=" + dir + "/apiserver.key",
      "--client-ca-file=" + dir + "/ca.crt",
      "--authorization-mode=Node,RBAC",
      // As on GKE: pods that ask for google.com/tpu tolerate the taint of that name.
      "--enable-admission-plugins=ExtendedResourceToleration",
      fmt::format("--service-cluster-ip-range={}", kServiceNetwork),
      "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
      "--service-account-key-file=" + dir + "/sa.crt",
      "--service-account-signing-key-file=" + dir + "/sa.key",
      "--allow-privileged=true",
      fmt::format("--enable-priority-and-fairness={}", options.priority_and_fairness),
  };
  if (options.real_kubelets()) {
    // The API server reaches kubelets and webhooks without DNS and kube-proxy.
    arguments.emplace_back("--kubelet-preferred-address-types=InternalIP");
    arguments.emplace_back("--enable-aggregator-routing=true");
  }
  // Without controllers the taint of a new node would not be removed; without kubelets the node would not become Ready.
  if (!options.controllers || (!options.kwok && !options.real_kubelets())) {
    arguments.emplace_back("--disable-admission-plugins=TaintNodesByCondition" +
                           std::string(options.controllers ? "" : ",ServiceAccount"));
  }
  return with_flags(std::move(arguments), options.apiserver_flags);
}

std::vector<std::string> controller_arguments(const ControlPlaneOptions& options, const std::string& dir) {
  return with_flags(
      {"--kubeconfig=" + dir + "/kube-controller-manager.kubeconfig", "--leader-elect=false", "--secure-port=0",
       // Without kubelets the leases of nodes are not renewed.
       // As on GKE: each controller has its own user, which match conditions and policies may name.
       "--use-service-account-credentials=true",
       std::string("--controllers=*") + (options.kwok || options.real_kubelets() ? "" : ",-node-lifecycle-controller"),
       "--service-account-private-key-file=" + dir + "/sa.key", "--root-ca-file=" + dir + "/ca.crt",
       "--cluster-signing-cert-file=" + dir + "/ca.crt", "--cluster-signing-key-file=" + dir + "/ca.key",
       "--concurrent-gc-syncs=20", "--node-monitor-period=500ms",
       fmt::format("--node-monitor-grace-period={}s", whole_seconds(options.node_grace)),
       // Lost nodes are tainted without delay, regardless of their number.
       "--node-eviction-rate=100", "--secondary-node-eviction-rate=100", "--large-cluster-size-threshold=0",
       client_limits(options, "qps", 1), client_limits(options, "burst", 2)},
      options.controller_flags);
}

std::vector<std::string> scheduler_arguments(const ControlPlaneOptions& options, const std::string& dir) {
  return with_flags({"--kubeconfig=" + dir + "/kube-scheduler.kubeconfig", "--leader-elect=false", "--secure-port=0",
                     client_limits(options, "qps", 1), client_limits(options, "burst", 2)},
                    options.scheduler_flags);
}

std::vector<std::string> kwok_arguments(const ControlPlaneOptions& options, const std::string& dir) {
  return {"--kubeconfig=" + dir + "/kwok.kubeconfig", "--config=" + dir + "/stages.yaml", "--manage-all-nodes=false",
          std::string("--manage-nodes-with-label-selector=") + kNotLost,
          // It renews a lease four times in its duration, and does not repeat a renewal that failed, as while the API
          // server is down: three in a row may fail before the node is lost.
          fmt::format("--node-lease-duration-seconds={}", whole_seconds(options.node_grace))};
}

}  // namespace tpuslice::testing
