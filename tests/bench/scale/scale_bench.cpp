#include "tests/bench/scale/scale_bench.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/cluster/nodes/node_pools.h"
#include "tests/bench/lean_client.h"
#include "tests/bench/machine.h"
#include "tests/bench/server_metrics.h"
#include "tests/bench/workload.h"
#include "tpu/labels.h"

namespace tpuslice::bench {
namespace {

/// Slices of one size in each RayCluster, and pools for them for every ten RayClusters.
struct Size {
  int hosts;
  const char* topology;
  int slices;
  int pools;
};
constexpr Size kLarge{64, "4x8x8", 30, 44};
constexpr Size kSmall{8, "2x4x4", 10, 23};

constexpr const char* kNamespace = "scale";
constexpr int kNodeTimeout = 10;  ///< Seconds.
constexpr Duration kStopLimit = std::chrono::seconds(60);
constexpr Duration kReadyLimit = std::chrono::minutes(5);
constexpr Duration kRest = std::chrono::seconds(60);
constexpr Duration kPoll = std::chrono::milliseconds(100);
constexpr Duration kProgressInterval = std::chrono::seconds(10);
/// The operator is at rest when it uses less than this share of a core for kAtRestFor.
constexpr double kAtRest = 0.02;
constexpr Duration kAtRestFor = std::chrono::seconds(10);

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

int pools_of(const Size& size, int clusters) { return std::max(1, size.pools * clusters / 10); }

sim::NodePool make_pool(const Size& size, int index) {
  return {.name = fmt::format("pool-{}-{}", size.hosts, index),
          .accelerator = "tpu-v5p-slice",
          .topology = size.topology,
          .machine_type = "ct5p-hightpu-4t",
          .hosts = size.hosts,
          .chips_per_host = 4,
          .cpu = "208",
          .memory = "448Gi"};
}

Result<Json> make_cluster(const Json& sample, int index) {
  const Shape large{.slices = kLarge.slices, .hosts = kLarge.hosts};
  const Shape small{.slices = kSmall.slices, .hosts = kSmall.hosts};
  ASSIGN_OR_RETURN(Json cluster, make_object(sample, large, index, kNamespace));
  ASSIGN_OR_RETURN(const Json other, make_object(sample, small, index, kNamespace));
  Json group = other.at("/spec/workerGroupSpecs/0"_json_pointer);
  group["groupName"] = "small";
  cluster.at("/spec/workerGroupSpecs"_json_pointer).push_back(std::move(group));
  return cluster;
}

}  // namespace

Result<std::unique_ptr<ScaleBench>> ScaleBench::start(ScaleOptions options) {
  std::unique_ptr<ScaleBench> bench(new ScaleBench(std::move(options)));
  testing::ControlPlaneOptions plane;
  plane.keep_dir = bench->options_.keep_dir;
  plane.controllers = false;  // Nodes without kubelets stay Ready.
  plane.kwok = false;
  plane.priority_and_fairness = false;
  plane.client_qps = 2000;
  plane.gogc = 100;
  plane.start_limit = kReadyLimit;
  plane.etcd_flags = {"--quota-backend-bytes=8589934592", "--auto-compaction-mode=periodic",
                      "--auto-compaction-retention=1m"};
  ASSIGN_OR_RETURN(bench->plane_, testing::ControlPlane::start(std::move(plane)));
  ASSIGN_OR_RETURN(bench->account_, testing::install_operator(*bench->plane_));
  ASSIGN_OR_RETURN(bench->webhook_port_, testing::free_port());
  RETURN_IF_ERROR(testing::register_webhook(bench->plane_->client(), bench->webhook_port_));
  RETURN_IF_ERROR(bench->create_nodes());
  return bench;
}

Status ScaleBench::create_nodes() {
  std::vector<std::string> nodes;
  for (const Size& size : {kLarge, kSmall}) {
    for (int pool = 0; pool < pools_of(size, options_.clusters); ++pool) {
      for (int host = 0; host < size.hosts; ++host) {
        const int index = static_cast<int>(nodes.size());
        nodes.push_back(sim::make_node(make_pool(size, pool), host, index, format_rfc3339(clock_.wall())).dump());
      }
    }
  }
  // For the heads: otherwise kube-scheduler would use a core to compare them with all other nodes.
  const sim::NodePool heads{.name = "heads", .cpu = "1024", .memory = "4Ti"};
  nodes.push_back(sim::make_node(heads, 0, static_cast<int>(nodes.size()), format_rfc3339(clock_.wall())).dump());
  ASSIGN_OR_RETURN(const auto client, LeanClient::connect(plane_->config(), kInFlight));
  return client->post(kNodes.path(""), nodes);
}

Result<ScaleFigures> ScaleBench::measure() {
  ScaleFigures out;
  out.slices = options_.clusters * (kLarge.slices + kSmall.slices);
  out.pods = options_.clusters * (kLarge.slices * kLarge.hosts + kSmall.slices * kSmall.hosts + 1);
  for (const Size& size : {kLarge, kSmall}) out.nodes += size.hosts * pools_of(size, options_.clusters);
  RETURN_IF_ERROR(measure_creation(out));
  RETURN_IF_ERROR(measure_start(out));
  RETURN_IF_ERROR(measure_rest(out));
  RETURN_IF_ERROR(measure_teardown(out));
  RETURN_IF_ERROR(measure_relist(out));
  return out;
}

Status ScaleBench::create_clusters() {
  ASSIGN_OR_RETURN(const Json sample, read_sample(Kind::kRayCluster));
  const Object owner({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", kNamespace}}}});
  if (const auto created = plane_->client().create(kNamespaces, owner); !created) return created.error();
  for (int index = 0; index < options_.clusters; ++index) {
    ASSIGN_OR_RETURN(Json cluster, make_cluster(sample, index));
    const auto created = plane_->client().create(type_of(Kind::kRayCluster), Object(std::move(cluster)));
    if (!created) return created.error();
  }
  return {};
}

Status ScaleBench::measure_creation(ScaleFigures& out) {
  RETURN_IF_ERROR(start_operator(true));
  RETURN_IF_ERROR(wait_until_at_rest());
  const double cpu = cpu_seconds(operator_->pid());
  const Instant started = clock_.now();
  Instant shown = started;
  RETURN_IF_ERROR(create_clusters());
  for (double count = 0; count < out.pods;) {
    pause_for(kPoll);
    ASSIGN_OR_RETURN(count, count_pods());
    if (clock_.now() - started > options_.limit) {
      return Error::of(ErrorCode::kTimeout, "{} of {} pods were created", count, out.pods);
    }
    if (clock_.now() - shown < kProgressInterval) continue;
    shown = clock_.now();
    fmt::print(stderr, "  {} of {} pods\n", count, out.pods);
  }
  out.creation_rate = out.pods / seconds(clock_.now() - started);
  RETURN_IF_ERROR(wait_until_at_rest());
  ASSIGN_OR_RETURN(out.placed, operator_->metric("tpuslice_slices_placed_total"));
  ASSIGN_OR_RETURN(out.bound, count_bound_pods());
  out.creation_cpu = 1000 * (cpu_seconds(operator_->pid()) - cpu) / out.pods;
  ASSIGN_OR_RETURN(out.creation_peak, operator_->peak_resident_mib());
  fmt::print(stderr, "  {} slices placed, {} pods on nodes\n", out.placed, out.bound);
  return stop_operator();
}

Status ScaleBench::measure_start(ScaleFigures& out) {
  const Instant started = clock_.now();
  RETURN_IF_ERROR(start_operator(true));
  out.ready_seconds = seconds(clock_.now() - started);
  RETURN_IF_ERROR(wait_until_at_rest());
  out.start_cpu = cpu_seconds(operator_->pid());
  ASSIGN_OR_RETURN(out.start_peak, operator_->peak_resident_mib());
  out.resident = resident_mebibytes(operator_->pid());
  return {};
}

Status ScaleBench::measure_rest(ScaleFigures& out) {
  const double cpu = cpu_seconds(operator_->pid());
  ASSIGN_OR_RETURN(const double writes, operator_writes(plane_->client()));
  pause_for(kRest);
  ASSIGN_OR_RETURN(const double later, operator_writes(plane_->client()));
  out.rest_writes = later - writes;
  out.rest_cpu = 100 * (cpu_seconds(operator_->pid()) - cpu) / seconds(kRest);
  return {};
}

Status ScaleBench::measure_teardown(ScaleFigures& out) {
  const std::string node = sim::node_name(make_pool(kLarge, 0), 0);
  ASSIGN_OR_RETURN(const client::ListPage on_node,
                   plane_->client().list(kPods, {.field_selector = "spec.nodeName=" + node}));
  if (on_node.items.empty()) return Error::internal("{}: no pod is on it", node);
  ASSIGN_OR_RETURN(const Json pod, parse_json(on_node.items.front()));
  const std::string slice = string_at(pod, {"metadata", "labels", tpu::kSlice});
  const std::string now = format_rfc3339(clock_.wall());
  const Json status = {{"conditions", Json::array({{{"type", "Ready"},
                                                    {"status", "Unknown"},
                                                    {"reason", "NodeStatusUnknown"},
                                                    {"lastHeartbeatTime", now},
                                                    {"lastTransitionTime", now}}})}};
  const auto lost = plane_->client().patch(kNodes, {"", node}, client::PatchType::kMerge, {{"status", status}},
                                           {.subresource = "status"});
  if (!lost) return lost.error();
  const Instant timeout = clock_.now() + std::chrono::seconds(kNodeTimeout);
  for (bool ended = false; !ended;) {
    pause_for(kPoll);
    if (clock_.now() - timeout > options_.limit) return Error::of(ErrorCode::kTimeout, "{}: slice not ended", node);
    ASSIGN_OR_RETURN(const client::ListPage page,
                     plane_->client().list(kPods, {.namespace_name = kNamespace,
                                                   .label_selector = fmt::format("{}={}", tpu::kSlice, slice),
                                                   .field_selector = "spec.nodeName!=",
                                                   .resource_version = "0"}));
    ended = std::ranges::all_of(
        page.items, [](const std::string& item) { return item.find("\"deletionTimestamp\"") != std::string::npos; });
  }
  out.teardown_seconds = seconds(clock_.now() - timeout);
  return {};
}

Status ScaleBench::measure_relist(ScaleFigures& out) {
  // With leader election it would exit: one API server takes longer to start than a Lease is held.
  RETURN_IF_ERROR(stop_operator());
  RETURN_IF_ERROR(start_operator(false));
  RETURN_IF_ERROR(wait_until_at_rest());
  RETURN_IF_ERROR(reset_peak());
  ASSIGN_OR_RETURN(const double lists, operator_->metric("tpuslice_watch_lists_total"));
  const double cpu = cpu_seconds(operator_->pid());
  plane_->kill_apiserver();
  RETURN_IF_ERROR(plane_->start_apiserver());
  pause_for(std::chrono::seconds(30));  // Watches are opened again after a back-off.
  RETURN_IF_ERROR(wait_until_at_rest());
  ASSIGN_OR_RETURN(const double lists_after, operator_->metric("tpuslice_watch_lists_total"));
  out.relists = lists_after - lists;
  out.relist_cpu = cpu_seconds(operator_->pid()) - cpu;
  ASSIGN_OR_RETURN(out.relist_peak, operator_->peak_resident_mib());
  return stop_operator();
}

Status ScaleBench::start_operator(bool leader_elect) {
  fmt::print(stderr, "starting the operator\n");
  ASSIGN_OR_RETURN(operator_, testing::OperatorProcess::start({.kubeconfig = account_,
                                                               .log = plane_->dir() + "/operator.log",
                                                               .program = options_.operator_program,
                                                               .webhook_port = webhook_port_,
                                                               .leader_elect = leader_elect,
                                                               .node_timeout_seconds = kNodeTimeout,
                                                               .ready_limit = kReadyLimit}));
  return {};
}

Status ScaleBench::stop_operator() {
  const Status stopped = operator_->stop(kStopLimit);
  operator_.reset();
  return stopped;
}

Result<double> ScaleBench::count_pods() {
  ASSIGN_OR_RETURN(const client::ListPage page,
                   plane_->client().list(kPods, {.namespace_name = kNamespace, .limit = 1}));
  return static_cast<double>(page.items.size()) + static_cast<double>(page.remaining);
}

Result<double> ScaleBench::count_bound_pods() {
  double count = 0;
  client::ListOptions options{.namespace_name = kNamespace, .field_selector = "spec.nodeName!="};
  do {
    ASSIGN_OR_RETURN(const client::ListPage page, plane_->client().list(kPods, options));
    count += static_cast<double>(page.items.size());
    options.continue_token = page.continue_token;
  } while (!options.continue_token.empty());
  return count;
}

Status ScaleBench::wait_until_at_rest() {
  const Instant started = clock_.now();
  double before = cpu_seconds(operator_->pid());
  while (clock_.now() - started < options_.limit) {
    pause_for(kAtRestFor);
    if (!operator_->running()) {
      return Error::unavailable("the operator has exited:\n{}", testing::last_lines(operator_->log(), 5));
    }
    const double now = cpu_seconds(operator_->pid());
    if (now - before < kAtRest * seconds(kAtRestFor)) return {};
    fmt::print(stderr, "  the operator used {:.2f} of a core\n", (now - before) / seconds(kAtRestFor));
    before = now;
  }
  return Error::of(ErrorCode::kTimeout, "the operator is not at rest");
}

Status ScaleBench::reset_peak() {
  const std::string path = fmt::format("/proc/{}/clear_refs", operator_->pid());
  std::ofstream file(path);
  file << "5";  // As proc(5) has it.
  if (!file.flush()) return Error::unavailable("{}: cannot be written", path);
  return {};
}

}  // namespace tpuslice::bench
