#include "tests/nodes/recovery/recovery_bench.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "tests/bench/machine.h"
#include "tests/nodes/install.h"
#include "tests/support/eventually.h"

namespace tpuslice::bench {
namespace {

/// The events of the start are over.
constexpr Duration kPause = std::chrono::seconds(2);
constexpr Duration kStartLimit = std::chrono::seconds(120);
constexpr Duration kCleanUpLimit = std::chrono::seconds(180);
constexpr const char* kPool = "v6e-a";
constexpr const char* kSparePool = "v6e-b";

std::vector<sim::NodePool> pools() {
  std::vector<sim::NodePool> out = {{.name = "cpu", .hosts = 2}};
  for (const char* name : {kPool, kSparePool}) {
    out.push_back({.name = name,
                   .accelerator = "tpu-v6e-slice",
                   .topology = "4x4",
                   .machine_type = "ct6e-standard-4t",
                   .hosts = kHosts,
                   .chips_per_host = 4});
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<RecoveryBench>> RecoveryBench::start(RecoveryOptions options) {
  std::unique_ptr<RecoveryBench> bench(new RecoveryBench(std::move(options)));
  RETURN_IF_ERROR(bench->start_cluster());
  if (!bench->options_.upstream.empty()) {
    RETURN_IF_ERROR(bench->start_upstream());
  } else if (!bench->options_.by_hand) {
    RETURN_IF_ERROR(bench->install_operator());
  }
  return bench;
}

Status RecoveryBench::start_cluster() {
  testing::NodeClusterOptions options{.pools = pools()};
  for (const char* condition : {"not-ready", "unreachable"}) {
    options.plane.apiserver_flags.push_back(
        fmt::format("--default-{}-toleration-seconds={}", condition, options_.node_timeout));
  }
  ASSIGN_OR_RETURN(cluster_, testing::NodeCluster::start(std::move(options)));
  if (options_.keep_dir) cluster_->keep_dir();
  const Object owner({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", kNamespace}}}});
  ASSIGN_OR_RETURN(const Object created, cluster_->client().create(kNamespaces, owner));
  ASSIGN_OR_RETURN(watch_,
                   RecoveryWatch::start(cluster_->plane().config(), {.namespace_name = kNamespace,
                                                                     .resource_version = created.resource_version(),
                                                                     .hosts = static_cast<std::size_t>(kHosts)}));
  return {};
}

Status RecoveryBench::install_operator() {
  RETURN_IF_ERROR(testing::install_on_nodes(*cluster_, options_.operator_program));
  const auto patched =
      kubectl(fmt::format("-n tpu-slice-system patch deployment tpu-slice-operator --type=json -p "
                          R"('[{{"op":"add","path":"/spec/template/spec/containers/0/args/-",)"
                          R"("value":"--node-not-ready-timeout={}"}}]')",
                          options_.node_timeout));
  return patched ? testing::wait_for_rollout(*cluster_) : patched.error();
}

Status RecoveryBench::start_upstream() {
  const std::string dir = cluster_->plane().dir() + "/upstream";
  ASSIGN_OR_RETURN(upstream_, testing::Process::start({.program = "tests/upstream/operator/run.sh",
                                                       .args = {options_.upstream, cluster_->kubeconfig(), dir},
                                                       .log = dir + ".log"}));
  const auto serves = [&] { return std::filesystem::exists(dir + "/ready"); };
  if (testing::eventually([&] { return serves() || !upstream_->running(); }, kStartLimit) && serves()) return {};
  cluster_->keep_dir();
  return Error::unavailable("{} does not start; see {}.log", options_.upstream, dir);
}

Result<std::string> RecoveryBench::kubectl(const std::string& arguments) {
  auto output = testing::run_kubectl(*cluster_, arguments);
  if (!output) return Error::unavailable("kubectl {}: {}", arguments, output.error().message());
  return output;
}

Status RecoveryBench::create(const Workload& workload, const std::string& name, bool short_teardown) {
  const std::string path = cluster_->plane().dir() + "/workload.yaml";
  RETURN_IF_ERROR(write_private_file(path, manifest_of(workload, {.name = name, .short_teardown = short_teardown})));
  // A webhook may not serve yet.
  Result<std::string> applied = Error::unavailable("not applied");
  (void)testing::eventually(
      [&] {
        applied = kubectl(fmt::format("-n {} apply --server-side -f {}", kNamespace, path));
        return applied.ok();
      },
      std::chrono::seconds(20));
  return applied ? Status() : applied.error();
}

Status RecoveryBench::create_by_hand(const Workload& workload, const std::string& name, const std::string& pool) {
  for (int host = 0; host < kHosts; ++host) {
    const ManifestOptions options{.name = fmt::format("{}-{}", name, host), .node = fmt::format("{}-{}", pool, host)};
    ASSIGN_OR_RETURN(Json pod, parse_yaml(manifest_of(workload, options)));
    pod["metadata"]["namespace"] = kNamespace;
    const auto created = cluster_->client().create(kPods, Object(std::move(pod)));
    if (!created) return created.error();
  }
  return {};
}

Status RecoveryBench::replace_by_hand(const Workload& workload, const Fault& fault, bool short_teardown,
                                      const HostPod& victim, const std::vector<HostPod>& hosts) {
  RETURN_IF_ERROR(watch_->wait_noticed(options_.limit));
  for (const HostPod& host : hosts) {
    client::DeleteOptions options;
    if (short_teardown) options.grace_seconds = 1;
    if (fault.node_lost && host.uid == victim.uid) options.grace_seconds = 0;
    const Status removed = cluster_->client().remove(kPods, {kNamespace, host.name}, options);
    if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed;
  }
  RETURN_IF_ERROR(watch_->wait_gone(options_.limit));
  return create_by_hand(workload, fmt::format("w{}", ++workloads_), fault.repair == nullptr ? kPool : kSparePool);
}

Result<std::optional<Recovery>> RecoveryBench::recover(const Workload& workload, const Fault& fault,
                                                       bool short_teardown, int round) {
  auto measured = measure(workload, fault, short_teardown, round);
  if (measured) return measured;
  report(measured.error());
  cluster_->keep_dir();
  return measured.error().within("logs in " + cluster_->plane().dir());
}

Result<std::optional<Recovery>> RecoveryBench::measure(const Workload& workload, const Fault& fault,
                                                       bool short_teardown, int round) {
  const std::string name = fmt::format("w{}", ++workloads_);
  RETURN_IF_ERROR(options_.by_hand ? create_by_hand(workload, name, kPool) : create(workload, name, short_teardown));
  RETURN_IF_ERROR(watch_->wait_whole(kStartLimit));
  pause_for(kPause);
  const std::vector<HostPod> hosts = watch_->hosts();
  if (hosts.size() != static_cast<std::size_t>(kHosts))
    return Error::internal("{} hosts run before the fault", hosts.size());
  const HostPod victim = hosts[static_cast<std::size_t>(round % kHosts)];
  watch_->begin(victim);
  RETURN_IF_ERROR(fault.inject(*cluster_, victim));
  if (options_.by_hand) RETURN_IF_ERROR(replace_by_hand(workload, fault, short_teardown, victim, hosts));
  const Status recovered = watch_->wait_whole(options_.limit);
  if (!recovered && recovered.error().code() != ErrorCode::kTimeout) return recovered.error();
  std::optional<Recovery> recovery;
  if (recovered) recovery = watch_->recovery();
  if (!recovered) report(recovered.error());
  RETURN_IF_ERROR(clean_up(workload, fault, victim));
  return recovery;
}

void RecoveryBench::report(const Error& error) {
  fmt::print(stderr, "{}\n", error.message());
  for (const char* what : {"get pods -o wide", "get events --sort-by=.lastTimestamp | tail -n 20"}) {
    const auto output = kubectl(fmt::format("-n {} {}", kNamespace, what));
    fmt::print(stderr, "{}\n", output ? *output : output.error().message());
  }
}

/// Their processes ignore SIGTERM, and controllers delete them with their own grace period.
void RecoveryBench::kill_containers() {
  const auto list = cluster_->client().list(kPods, {.namespace_name = kNamespace});
  if (!list) return;
  for (const std::string& item : list->items) {
    const auto pod = parse_json(item);
    if (pod) (void)cluster_->kill_container({kNamespace, string_at(*pod, {"metadata", "name"})}, kContainer);
  }
}

Status RecoveryBench::clean_up(const Workload& workload, const Fault& fault, const HostPod& victim) {
  if (fault.repair != nullptr) RETURN_IF_ERROR(fault.repair(*cluster_, victim));
  if (!options_.by_hand) {
    const auto removed =
        kubectl(fmt::format("-n {} delete {} --all --cascade=foreground --wait=false", kNamespace, workload.resource));
    if (!removed) return removed.error();
  }
  // Controllers may create pods again until their owner is gone.
  const Instant until = clock_.now() + kCleanUpLimit;
  while (true) {
    const auto removed = kubectl(fmt::format("-n {} delete pods --all --grace-period=1 --wait=false", kNamespace));
    if (!removed) return removed.error();
    kill_containers();
    const Status gone = watch_->wait_gone(std::chrono::seconds(5));
    ASSIGN_OR_RETURN(const std::string left,
                     kubectl(fmt::format("-n {} get {} -o name", kNamespace, workload.resource)));
    if (gone && left.find(workload.resource) == std::string::npos) break;
    if (clock_.now() > until) return gone ? Error::internal("{}: is not deleted", left) : gone.error();
    pause_for(std::chrono::seconds(1));
  }
  return cluster_->wait_until_ready(kCleanUpLimit);
}

}  // namespace tpuslice::bench
