#include "tests/bench/scheduling/scheduling_bench.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "tests/bench/machine.h"
#include "tests/bench/scheduling/slices.h"

namespace tpuslice::bench {
namespace {

constexpr Duration kStopLimit = std::chrono::seconds(40);
constexpr Duration kSyncLimit = std::chrono::seconds(120);
constexpr Duration kTimeout = std::chrono::seconds(300);  ///< Of all waits except the round.
constexpr Duration kProgressInterval = std::chrono::seconds(10);

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Result<std::unique_ptr<SchedulingBench>> SchedulingBench::start(SchedulingOptions options) {
  std::unique_ptr<SchedulingBench> bench(new SchedulingBench(std::move(options)));
  const SchedulingOptions& given = bench->options_;
  bench->pools_ = given.nodes / kHosts;
  if (given.slices > bench->pools_) {
    return Error::invalid_argument("{} nodes are only {} pools for {} slices", given.nodes, bench->pools_,
                                   given.slices);
  }
  bench->running_ = std::min(given.running, bench->pools_ - given.slices);
  testing::ControlPlaneOptions plane;
  plane.keep_dir = given.keep_dir;
  plane.controllers = false;  // Nodes without kubelets stay Ready.
  plane.kwok = false;
  plane.priority_and_fairness = false;
  plane.client_qps = 2000;
  plane.gogc = 100;
  plane.apiserver_flags = {"--delete-collection-workers=16"};
  ASSIGN_OR_RETURN(bench->plane_, testing::ControlPlane::start(std::move(plane)));
  ASSIGN_OR_RETURN(bench->account_, testing::install_operator(*bench->plane_));
  ASSIGN_OR_RETURN(const client::ListPage pods, bench->plane_->client().list(kPods));
  ASSIGN_OR_RETURN(bench->watch_, BindingWatch::start(bench->plane_->config(), pods.resource_version));
  RETURN_IF_ERROR(bench->create_nodes());
  return bench;
}

Status SchedulingBench::create_nodes() {
  const std::vector<std::string> nodes = bench::make_nodes(pools_, format_rfc3339(clock_.wall()));
  ASSIGN_OR_RETURN(const auto client, connect(kInFlight));
  const Instant started = clock_.now();
  RETURN_IF_ERROR(client->post(kNodes.path(""), nodes));
  nodes_per_second_ = static_cast<double>(nodes.size()) / seconds(clock_.now() - started);
  return settle();
}

int SchedulingBench::nodes() const { return pools_ * kHosts; }

Result<Round> SchedulingBench::measure(Method method, int slices) {
  Round out;
  ASSIGN_OR_RETURN(const std::string present, new_namespace("running"));
  ASSIGN_OR_RETURN(const std::string where, new_namespace("round"));
  RETURN_IF_ERROR(add_running(method, present));
  if (is_gated(method)) RETURN_IF_ERROR(start_operator());
  RETURN_IF_ERROR(settle());
  const std::vector<std::string> pods = waiting_pods(method, where, slices, free_pools(running_, pools_));
  RETURN_IF_ERROR(schedule(where, pods, out));
  count_slices(where, slices, out);
  RETURN_IF_ERROR(stop_operator());
  RETURN_IF_ERROR(remove_pods(where));
  RETURN_IF_ERROR(remove_pods(present));
  RETURN_IF_ERROR(settle());
  return out;
}

Status SchedulingBench::add_running(Method method, const std::string& namespace_name) {
  const std::vector<std::string> pods = running_pods(method, namespace_name, running_, pools_);
  ASSIGN_OR_RETURN(const auto client, connect(kInFlight));
  RETURN_IF_ERROR(client->post(kPods.path(namespace_name), pods));
  ASSIGN_OR_RETURN(const bool seen, wait_settled(namespace_name, pods.size(), clock_.now() + kTimeout));
  if (!seen) return Error::of(ErrorCode::kTimeout, "{}: not all pods were observed", namespace_name);
  return {};
}

Status SchedulingBench::schedule(const std::string& namespace_name, const std::vector<std::string>& pods, Round& out) {
  out.pods = pods.size();
  ASSIGN_OR_RETURN(const auto client, connect(kInFlight));
  const Usage before = usage();
  const Instant started = clock_.now();
  RETURN_IF_ERROR(client->post(kPods.path(namespace_name), pods));
  out.creation_rate = static_cast<double>(pods.size()) / seconds(clock_.now() - started);
  ASSIGN_OR_RETURN(const bool all, wait_settled(namespace_name, pods.size(), started + options_.limit));
  if (operator_ && !operator_->running()) {
    return Error::unavailable("the operator has exited:\n{}", testing::last_lines(operator_->log(), 5));
  }
  // kube-scheduler retries unbound pods forever, so an unfinished round ends without rest.
  if (all) RETURN_IF_ERROR(settle());
  const Usage after = usage();
  const double passed = seconds(clock_.now() - started);
  Instant last = started;
  for (const auto& [name, pod] : watch_->pods(namespace_name)) {
    if (pod.node.empty()) continue;
    ++out.bound;
    last = std::max(last, pod.bound);
  }
  if (out.bound > 0) {
    const double thousands = static_cast<double>(out.bound) / 1000;
    out.rate = static_cast<double>(out.bound) / seconds(last - started);
    out.scheduler_cpu = (after.scheduler - before.scheduler) / thousands;
    out.apiserver_cpu = (after.apiserver - before.apiserver) / thousands;
    out.operator_cpu = (after.tpu_operator - before.tpu_operator) / thousands;
  }
  if (operator_) out.resident = resident_mebibytes(operator_->pid());
  // The values are read one after the other, so their difference may be negative.
  const double others = after.machine - before.machine - (after.ours - before.ours);
  out.others = std::max(0.0, others / passed / machine_cores());
  return {};
}

Result<bool> SchedulingBench::wait_settled(const std::string& namespace_name, std::size_t count, Instant until) {
  while (true) {
    const Duration remaining = std::max<Duration>(until - clock_.now(), Duration::zero());
    ASSIGN_OR_RETURN(const std::size_t reached,
                     watch_->wait_settled(namespace_name, count, std::min(kProgressInterval, remaining)));
    if (reached >= count) return true;
    if (clock_.now() >= until) return false;
    fmt::print(stderr, "  {}: {} of {} pods\n", namespace_name, reached, count);
  }
}

void SchedulingBench::count_slices(const std::string& namespace_name, int slices, Round& out) const {
  const std::map<std::string, ObservedPod> pods = watch_->pods(namespace_name);
  for (int slice = 0; slice < slices; ++slice) {
    std::set<std::string> pools;
    int bound = 0;
    bool terminating = false;
    for (int host = 0; host < kHosts; ++host) {
      const auto pod = pods.find(pod_name(slice, host));
      if (pod == pods.end()) continue;
      terminating = terminating || pod->second.terminating;
      if (pod->second.node.empty()) continue;
      ++bound;
      pools.insert(pool_of(pod->second.node));
    }
    if (terminating) {
      ++out.torn_down;
    } else if (bound == kHosts && pools.size() == 1) {
      ++out.whole;
    } else if (bound > 0) {
      ++out.partial;
    }
  }
}

Status SchedulingBench::start_operator() {
  ASSIGN_OR_RETURN(operator_, testing::OperatorProcess::start({.kubeconfig = account_,
                                                               .log = plane_->dir() + "/operator.log",
                                                               .program = options_.operator_program,
                                                               .flags = {"--controllers=slice"},
                                                               .ready_limit = kSyncLimit}));
  return {};
}

Status SchedulingBench::stop_operator() {
  if (!operator_) return {};
  const Status stopped = operator_->stop(kStopLimit);
  operator_.reset();
  return stopped;
}

Result<std::string> SchedulingBench::new_namespace(const char* prefix) {
  // All names have the same length, since pods contain them.
  const std::string name = fmt::format("{}-{:04}", prefix, ++namespaces_);
  ASSIGN_OR_RETURN(
      const Object created,
      plane_->client().create(kNamespaces,
                              Object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}})));
  return created.name();
}

Result<std::unique_ptr<LeanClient>> SchedulingBench::connect(int connections) const {
  return LeanClient::connect(plane_->config(), connections);
}

Status SchedulingBench::remove_pods(const std::string& namespace_name) {
  ASSIGN_OR_RETURN(const auto client, connect(1));
  // Without kubelets, pods with a grace period would not be deleted.
  RETURN_IF_ERROR(client->remove({kPods.path(namespace_name) + "?gracePeriodSeconds=0"}));
  return watch_->wait_deleted(namespace_name, kTimeout);
}

Status SchedulingBench::settle() {
  return wait_for_rest([this] { return usage().ours; }, kTimeout);
}

SchedulingBench::Usage SchedulingBench::usage() const {
  const auto used_by = [this](const char* program) {
    const testing::Process* process = plane_->process(program);
    return process == nullptr ? 0.0 : cpu_seconds(process->pid());
  };
  Usage out;
  out.scheduler = used_by("kube-scheduler");
  out.apiserver = used_by("kube-apiserver");
  if (operator_) out.tpu_operator = cpu_seconds(operator_->pid());
  out.ours = out.scheduler + out.apiserver + out.tpu_operator + used_by("etcd") + cpu_seconds(getpid());
  out.machine = machine_cpu_seconds();
  return out;
}

}  // namespace tpuslice::bench
