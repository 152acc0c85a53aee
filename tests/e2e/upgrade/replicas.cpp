#include "tests/e2e/upgrade/replicas.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "api/base/file.h"
#include "api/base/pause.h"
#include "api/types/yaml.h"
#include "tests/support/eventually.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kReplicas = 2;
constexpr int kShutdownDelaySeconds = 3;
/// How long kube-proxy sends new connections to a replica that is shutting down.
constexpr Duration kEndpointDelay = 1s;
constexpr Duration kCommandLimit = 60s;
constexpr Duration kStopLimit = 20s;
/// Until the operator looks at the failurePolicy again after a manifest was applied.
constexpr Duration kFailurePolicyLimit = 60s;
const ObjectKey kAccount{"tpu-slice-system", "tpu-slice-operator"};

ResourceType configuration_type(const Object& object) {
  const bool mutating = object.kind() == "MutatingWebhookConfiguration";
  return {"admissionregistration.k8s.io", "v1", object.kind(),
          mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations", false};
}

}  // namespace

Release this_release() { return {"this version", TPUSLICE_OPERATOR_PROGRAM, TPUSLICE_DEPLOY}; }

Result<Release> earlier_release() {
  ASSIGN_OR_RETURN(const std::string directory, output_of(std::string("'") + TPUSLICE_UPGRADE_SOURCES + "/assets.sh'"));
  return Release{"the earlier version", directory + "/tpu-slice-operator", directory + "/deploy", false};
}

Status Replicas::install(const Release& release) {
  if (!balancer_) {
    ASSIGN_OR_RETURN(balancer_, LoadBalancer::start());
  }
  const std::string apply =
      fmt::format("kubectl --kubeconfig '{}' apply --server-side --force-conflicts -f ", plane_.kubeconfig());
  for (const char* part : {"operator/namespace.yaml", "crds", "rbac", "operator/scouts.yaml", "webhook/policy.yaml"}) {
    const std::string path = release.deploy + "/" + part;
    if (!std::filesystem::exists(path)) continue;  // Not every version has it.
    RETURN_IF_ERROR(output_of(apply + path));
  }
  RETURN_IF_ERROR(apply_webhook(release));
  if (!kubeconfig_.empty()) return {};
  ASSIGN_OR_RETURN(kubeconfig_, plane_.service_account_kubeconfig(kAccount));
  return {};
}

Status Replicas::apply_webhook(const Release& release) {
  const std::string path = release.deploy + "/webhook/webhook.yaml";
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  ASSIGN_OR_RETURN(const auto documents, parse_yaml_documents(text));
  for (const YamlDocument& document : documents) {
    const Object original(document.value);
    if (!original.kind().ends_with("WebhookConfiguration")) continue;
    const Object object = webhook_on_loopback(original, balancer_->port());
    const auto applied = plane_.client().patch(configuration_type(object), object.key(), client::PatchType::kApply,
                                               object.json(), {.force = true});
    if (!applied) return applied.error().within(path);
  }
  return {};
}

Status Replicas::start(const Release& release) {
  OperatorProcessOptions options;
  options.kubeconfig = kubeconfig_;
  options.log = fmt::format("{}/operator-{}.log", plane_.dir(), started_++);
  options.program = release.program;
  if (!release.has_metrics_secure) options.metrics_secure.reset();
  options.shutdown_delay_seconds = kShutdownDelaySeconds;
  ASSIGN_OR_RETURN(options.webhook_port, free_port());
  options.wait_failure_policy = false;  // The balancer gets to know the replica below.
  Replica replica{.process = nullptr, .webhook_port = options.webhook_port};
  ASSIGN_OR_RETURN(replica.process, OperatorProcess::start(std::move(options)));
  replicas_.push_back(std::move(replica));
  update_endpoints();
  return {};
}

Status Replicas::stop(Replica replica) {
  std::jthread endpoints([this](const std::stop_token& stop) {
    tpuslice::pause(kEndpointDelay, stop);
    update_endpoints();
  });
  const Status stopped = replica.process->stop(kStopLimit);
  endpoints.join();
  return stopped;
}

Status Replicas::roll_out(const Release& release) {
  std::vector<Replica> old;
  for (std::size_t i = 0; i < kReplicas; ++i) {
    const bool replaces = !replicas_.empty() && replicas_.size() >= kReplicas;
    RETURN_IF_ERROR(start(release));
    if (!replaces) continue;
    Replica oldest = std::move(replicas_.front());
    replicas_.erase(replicas_.begin());
    RETURN_IF_ERROR(stop(std::move(oldest)));
  }
  if (eventually([&] { return fails_closed(plane_.client()); }, kFailurePolicyLimit)) return {};
  return Error::of(ErrorCode::kTimeout, "{}: failurePolicy is not Fail", release.name);
}

void Replicas::update_endpoints() {
  std::vector<int> ports;
  for (const Replica& replica : replicas_) ports.push_back(replica.webhook_port);
  balancer_->set_backends(std::move(ports));
}

OperatorProcess* Replicas::leader() {
  for (const Replica& replica : replicas_) {
    if (replica.process->metric("leader_election_master_status").value_or(0) == 1) return replica.process.get();
  }
  return nullptr;
}

OperatorProcess* Replicas::other_than(const OperatorProcess* replica) {
  for (const Replica& each : replicas_) {
    if (each.process.get() != replica) return each.process.get();
  }
  return nullptr;
}

Status Replicas::remove(OperatorProcess* process, bool crash) {
  const auto found =
      std::ranges::find_if(replicas_, [&](const Replica& each) { return each.process.get() == process; });
  if (found == replicas_.end()) return Error::not_found("no such replica");
  Replica replica = std::move(*found);
  replicas_.erase(found);
  if (!crash) return stop(std::move(replica));
  replica.process->kill();
  update_endpoints();
  return {};
}

}  // namespace tpuslice::testing
