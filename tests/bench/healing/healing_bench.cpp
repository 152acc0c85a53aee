#include "tests/bench/healing/healing_bench.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "tests/bench/machine.h"

namespace tpuslice::bench {
namespace {

constexpr const char* kNamespace = "healing";
/// Between two failures: status updates and events of the last one are over.
constexpr Duration kPause = std::chrono::seconds(2);

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

std::vector<sim::NodePool> make_pools(int count, int hosts, const std::string& topology) {
  std::vector<sim::NodePool> pools = {{.name = "heads", .cpu = "64", .memory = "256Gi"}};
  for (int index = 0; index < count; ++index) {
    pools.push_back({.name = fmt::format("pool-{}", index),
                     .accelerator = "tpu-v5p-slice",
                     .topology = topology,
                     .machine_type = "ct5p-hightpu-4t",
                     .hosts = hosts,
                     .chips_per_host = 4,
                     .cpu = "208",
                     .memory = "448Gi"});
  }
  return pools;
}

std::vector<std::string> texts_of(const std::vector<BarePod>& pods) {
  std::vector<std::string> out;
  out.reserve(pods.size());
  for (const BarePod& pod : pods) out.push_back(pod.text);
  return out;
}

}  // namespace

std::string_view name_of(Healer healer) {
  switch (healer) {
    case Healer::kOperator:
      return "this operator";
    case Healer::kKubeRay:
      return "KubeRay";
    case Healer::kByHand:
      break;
  }
  return "by hand";
}

Result<std::unique_ptr<HealingBench>> HealingBench::start(HealingOptions options, Healer healer) {
  std::unique_ptr<HealingBench> bench(new HealingBench(std::move(options), healer));
  bench->shape_ = {.slices = bench->options_.slices, .hosts = bench->options_.hosts};
  RETURN_IF_ERROR(bench->start_plane());
  if (healer == Healer::kOperator) RETURN_IF_ERROR(bench->start_operator());
  if (healer == Healer::kKubeRay) RETURN_IF_ERROR(bench->start_kuberay());
  RETURN_IF_ERROR(bench->create_cluster());
  ASSIGN_OR_RETURN(const Instant ready, bench->watch_->wait_ready(bench->shape_.pods(), {}, bench->options_.limit));
  (void)ready;
  return bench;
}

Status HealingBench::start_plane() {
  ASSIGN_OR_RETURN(const std::string topology, topology_of(shape_.hosts));
  testing::ControlPlaneOptions plane;
  plane.keep_dir = options_.keep_dir;
  plane.priority_and_fairness = false;
  plane.client_qps = 2000;
  plane.gogc = 100;
  plane.pools = make_pools(shape_.slices + options_.spare, shape_.hosts, topology);
  // Of the same version as KubeRay; ours are those of install_operator().
  if (healer_ == Healer::kKubeRay) {
    for (const char* kind : {"rayclusters", "rayjobs", "rayservices"}) {
      plane.crds.push_back(fmt::format("{}/ray.io_{}.yaml", options_.kuberay_crds, kind));
    }
  }
  ASSIGN_OR_RETURN(plane_, testing::ControlPlane::start(std::move(plane)));
  const Object owner({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", kNamespace}}}});
  ASSIGN_OR_RETURN(const Object created, plane_->client().create(kNamespaces, owner));
  ASSIGN_OR_RETURN(watch_, ReadyWatch::start(plane_->config(), kNamespace,
                                             string_at(created.json(), {"metadata", "resourceVersion"})));
  return {};
}

/// As deploy/ installs it: all controllers, the webhook, and elected leader.
Status HealingBench::start_operator() {
  testing::OperatorProcessOptions options;
  ASSIGN_OR_RETURN(options.kubeconfig, testing::install_operator(*plane_));
  ASSIGN_OR_RETURN(options.webhook_port, testing::free_port());
  RETURN_IF_ERROR(testing::register_webhook(plane_->client(), options.webhook_port));
  options.log = plane_->dir() + "/operator.log";
  options.program = options_.operator_program;
  ASSIGN_OR_RETURN(operator_, testing::OperatorProcess::start(std::move(options)));
  return {};
}

/// As an administrator, without leader election, and without a limit of its requests.
Status HealingBench::start_kuberay() {
  ASSIGN_OR_RETURN(kuberay_, testing::Process::start(
                                 {.program = options_.kuberay_program,
                                  .args = {"--kubeconfig=" + plane_->kubeconfig(), "--enable-leader-election=false",
                                           "--metrics-addr=0", "--health-probe-bind-address=0", "--qps=5000",
                                           "--burst=5000", "--reconcile-concurrency=10",
                                           // Without it, pods of a slice are replaced one by one.
                                           "--feature-gates=RayMultiHostIndexing=true"},
                                  .log = plane_->dir() + "/kuberay.log",
                                  .directory = plane_->dir()}));
  return {};
}

Status HealingBench::create_cluster() {
  if (healer_ == Healer::kByHand) RETURN_IF_ERROR(testing::install_operator(plane_->client()));
  ASSIGN_OR_RETURN(const Json sample, read_sample(Kind::kRayCluster));
  ASSIGN_OR_RETURN(Json cluster, make_object(sample, shape_, 0, kNamespace));
  ASSIGN_OR_RETURN(const Object created,
                   plane_->client().create(type_of(Kind::kRayCluster), Object(std::move(cluster))));
  return healer_ == Healer::kByHand ? post_by_hand(created) : Status();
}

Status HealingBench::post_by_hand(const Object& cluster) {
  ASSIGN_OR_RETURN(client_, LeanClient::connect(plane_->config(), kInFlight));
  ASSIGN_OR_RETURN(BareCluster children, children_of(cluster));
  bare_ = std::move(children.pods);
  RETURN_IF_ERROR(client_->post(kServices.path(kNamespace), children.services));
  return client_->post(kPods.path(kNamespace), texts_of(bare_));
}

Status HealingBench::replace_by_hand(const ReadyPod& failed) {
  const auto pod = std::ranges::find(bare_, failed.name, &BarePod::name);
  std::vector<BarePod> slice;
  std::ranges::copy_if(bare_, std::back_inserter(slice), [&](const BarePod& each) { return each.slice == pod->slice; });
  std::vector<std::string> names;
  std::vector<std::string> paths;
  for (const BarePod& each : slice) {
    names.push_back(each.name);
    paths.push_back(kPods.path(kNamespace, each.name));
  }
  RETURN_IF_ERROR(client_->remove(paths));
  RETURN_IF_ERROR(watch_->wait_deleted(names, options_.limit));
  return client_->post(kPods.path(kNamespace), texts_of(slice));
}

Result<Healed> HealingBench::heal(int round) {
  pause_for(kPause);
  std::vector<ReadyPod> before = watch_->ready_pods();
  std::erase_if(before, [](const ReadyPod& pod) { return pod.labels.at("ray.io/node-type") != "worker"; });
  const auto workers = static_cast<std::size_t>(shape_.slices * shape_.hosts);
  if (before.size() != workers) return Error::internal("{} workers are Ready, expected {}", before.size(), workers);
  const ReadyPod& failed = before[static_cast<std::size_t>(round * shape_.hosts) % workers];
  const Json status = {{"phase", "Failed"}, {"reason", "Evicted"}, {"message", "by the benchmark"}};
  const Instant started = clock_.now();
  const auto patched = plane_->client().patch(kPods, {kNamespace, failed.name}, client::PatchType::kMerge,
                                              {{"status", status}}, {.subresource = "status"});
  if (!patched) return patched.error();
  if (healer_ == Healer::kByHand) RETURN_IF_ERROR(replace_by_hand(failed));
  ASSIGN_OR_RETURN(const Instant healed, watch_->wait_ready(shape_.pods(), failed.uid, options_.limit));
  std::set<std::string> uids;
  for (const ReadyPod& pod : before) uids.insert(pod.uid);
  for (const ReadyPod& pod : watch_->ready_pods()) uids.erase(pod.uid);
  return Healed{seconds(healed - started), uids.size()};
}

}  // namespace tpuslice::bench
