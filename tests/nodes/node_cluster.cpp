#include "tests/nodes/node_cluster.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "api/base/environment.h"
#include "api/base/file.h"
#include "tests/support/eventually.h"

namespace tpuslice::testing {
namespace {

/// Of the bridge that cluster.sh makes.
constexpr const char* kAddress = "10.0.0.1";
/// No name of another zone exists.
constexpr const char* kCorefile = R"(
cluster.local:53 in-addr.arpa:53 {{
  errors
  kubernetes cluster.local in-addr.arpa {{
    kubeconfig {1} local
  }}
  cache 30
  loadbalance
}}
.:53 {{
  file {0}.zone .
}}
)";
constexpr const char* kTpu = "google.com/tpu";

std::string cluster_directory() {
  const char* const directory =
      std::getenv("TPUSLICE_NODES_DIR");  // NOLINT(concurrency-mt-unsafe): no thread sets variables
  return directory == nullptr ? "" : directory;
}

/// Earlier clusters of this program may have left theirs.
std::string new_plane_directory() {
  std::string path = cluster_directory() + "/plane";
  for (int number = 2; std::filesystem::exists(path); ++number) {
    path = fmt::format("{}/plane-{}", cluster_directory(), number);
  }
  return path;
}

bool is_ready(const Json& node) {
  for (const Json& condition : array_at(node, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) == "Ready") return string_at(condition, {"status"}) == "True";
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<NodeCluster>> NodeCluster::start(NodeClusterOptions options) {
  std::unique_ptr<NodeCluster> cluster(new NodeCluster(std::move(options)));
  const Instant started = cluster->clock_.now();
  if (const Status status = cluster->start_all(); !status) {
    if (!cluster->plane_) return status.error();
    cluster->keep_dir();
    return status.error().within("cluster in " + cluster_directory());
  }
  cluster->start_time_ = cluster->clock_.now() - started;
  return cluster;
}

void NodeCluster::keep_dir() {
  plane_->keep_dir();
  std::ofstream(cluster_directory() + "/keep");  // For clean_up.sh.
}

Status NodeCluster::start_all() {
  if (cluster_directory().empty()) return Error::not_found("nodes: this program is started by tests/nodes/run.sh");
  options_.images.emplace_back("pause");
  ASSIGN_OR_RETURN(files_, find_node_programs(options_.images));
  options_.plane.dir = new_plane_directory();
  options_.plane.address = kAddress;
  options_.plane.kwok = false;
  ASSIGN_OR_RETURN(plane_, ControlPlane::start(options_.plane));
  RETURN_IF_ERROR(start_dns());
  for (const sim::NodePool& pool : options_.pools) {
    for (int host = 0; host < pool.hosts; ++host) RETURN_IF_ERROR(add_node(pool, host));
  }
  return wait_until_ready(options_.start_limit);
}

Result<std::string> NodeCluster::kubeconfig_for_nodes(const std::string& user, const std::vector<std::string>& groups) {
  ASSIGN_OR_RETURN(const std::string path, plane_->user_kubeconfig(user, groups));
  ASSIGN_OR_RETURN(std::string text, read_file(path));
  const std::string loopback = "127.0.0.1";
  text.replace(text.find(loopback), loopback.size(), kAddress);
  RETURN_IF_ERROR(write_private_file(path, text));
  return path;
}

Status NodeCluster::start_dns() {
  ASSIGN_OR_RETURN(const std::string kubeconfig, kubeconfig_for_nodes("coredns", {"system:masters"}));
  const std::string corefile = plane_->dir() + "/Corefile";
  RETURN_IF_ERROR(write_private_file(corefile, fmt::format(kCorefile, corefile, kubeconfig)));
  RETURN_IF_ERROR(write_private_file(corefile + ".zone", "@ 60 IN SOA dns. admin. 1 60 60 60 60\n"));
  ASSIGN_OR_RETURN(dns_, Process::start({.program = files_.programs + "/coredns",
                                         .args = {"-conf", corefile},
                                         .log = plane_->dir() + "/coredns.log"}));
  dns_->restart_on_exit();
  return {};
}

Status NodeCluster::add_node(const sim::NodePool& pool, int host) {
  const int index = static_cast<int>(nodes_.size());
  const Json node = sim::make_node(pool, host, index, format_rfc3339(clock_.wall()));
  const std::string name = string_at(node, {"metadata", "name"});
  // The kubelet registers with labels and taints that exist.
  Json created = node;
  created.erase("status");
  if (const auto object = client().create(kNodes, Object(std::move(created))); !object) return object.error();
  RealNodeOptions options{.dir = plane_->dir() + "/nodes/" + name,
                          .files = files_,
                          .disk = options_.disk,
                          .pool = pool,
                          .node = node,
                          .index = index};
  ASSIGN_OR_RETURN(options.kubeconfig, kubeconfig_for_nodes("system:node:" + name, {"system:nodes"}));
  ASSIGN_OR_RETURN(options.proxy_kubeconfig, kubeconfig_for_nodes("system:kube-proxy", {}));
  ASSIGN_OR_RETURN(nodes_[name], RealNode::start(std::move(options)));
  chips_[name] = pool.chips_per_host;
  return {};
}

std::string NodeCluster::missing_on(const Json& node) const {
  const std::string name = string_at(node, {"metadata", "name"});
  if (!is_ready(node)) return name + " is not Ready";
  for (const Json& taint : array_at(node, {"spec", "taints"})) {
    const std::string key = string_at(taint, {"key"});
    if (key.starts_with("node.kubernetes.io/")) return fmt::format("{} has the taint {}", name, key);
  }
  const auto chips = chips_.find(name);
  const std::string wanted = chips == chips_.end() ? "0" : std::to_string(chips->second);
  const std::string found = string_at(node, {"status", "allocatable", kTpu}, "0");
  return found == wanted ? "" : fmt::format("{} has {} chips of {}", name, found, wanted);
}

Status NodeCluster::wait_until_ready(Duration limit) {
  std::string missing;
  const bool ready = eventually(
      [&] {
        missing = "nodes cannot be listed";
        const auto list = client().list(kNodes, {.limit = 0});
        if (!list) return false;
        missing.clear();
        for (const std::string& item : list->items) {
          const auto node = parse_json(item);
          if (node && missing.empty()) missing = missing_on(*node);
        }
        return missing.empty();
      },
      limit);
  return ready ? Status() : Error::of(ErrorCode::kTimeout, "{}", missing);
}

Status NodeCluster::import_image(const std::string& archive) {
  for (const auto& [name, node] : nodes_) RETURN_IF_ERROR(node->import_image(archive));
  return {};
}

Status NodeCluster::kill_container(const ObjectKey& key, const std::string& container, int number) {
  ASSIGN_OR_RETURN(const Object pod, client().get(kPods, key));
  for (const Json& status : array_at(pod.json(), {"status", "containerStatuses"})) {
    if (string_at(status, {"name"}) != container) continue;
    const std::string id = string_at(status, {"containerID"});
    const std::size_t scheme = id.rfind('/');
    if (scheme == std::string::npos) break;
    return node(string_at(pod.json(), {"spec", "nodeName"})).kill_container(id.substr(scheme + 1), number);
  }
  return Error::not_found("pod {}: container {} does not run", key.name, container);
}

}  // namespace tpuslice::testing
