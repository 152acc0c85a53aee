#include "tests/e2e/kueue/kueue_process.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/base/file.h"
#include "api/base/strings.h"
#include "api/http/client/network_transport.h"
#include "api/types/yaml.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* kWebhookGroup = "admissionregistration.k8s.io";
constexpr ResourceType kMutating{kWebhookGroup, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations",
                                 false};
constexpr ResourceType kValidating{kWebhookGroup, "v1", "ValidatingWebhookConfiguration",
                                   "validatingwebhookconfigurations", false};
constexpr const char* kKueueNamespace = "kueue-system";

std::string configuration(int webhook_port, int health_port) {
  return fmt::format(R"(apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health: {{healthProbeBindAddress: "127.0.0.1:{}"}}
metrics: {{bindAddress: "0"}}
webhook: {{host: 127.0.0.1, port: {}, certDir: webhook-certs}}
leaderElection: {{leaderElect: false}}
internalCertManagement: {{enable: false}}
controller:
  groupKindConcurrency:
    Job.batch: 5
    Pod: 5
    Workload.kueue.x-k8s.io: 10
    LocalQueue.kueue.x-k8s.io: 5
    ClusterQueue.kueue.x-k8s.io: 5
integrations:
  frameworks:
    - batch/job
    - jobset.x-k8s.io/jobset
    - leaderworkerset.x-k8s.io/leaderworkerset
    - pod
    - ray.io/raycluster
    - ray.io/rayjob
    - ray.io/rayservice
    - statefulset
)",
                     health_port, webhook_port);
}

/// As Kueue's kustomization does it: webhooks of workloads are not called for these namespaces.
Json namespace_selector() {
  return {{"matchExpressions", Json::array({Json{{"key", "kubernetes.io/metadata.name"},
                                                 {"operator", "NotIn"},
                                                 {"values", {"kube-system", kKueueNamespace}}}})}};
}

bool is_of_kueue(const Json& webhook) {
  for (const Json& rule : array_at(webhook, {"rules"})) {
    for (const Json& group : array_at(rule, {"apiGroups"})) {
      if (group == "kueue.x-k8s.io") return true;
    }
  }
  return false;
}

}  // namespace

Result<std::string> kueue_directory() { return output_of(std::string("'") + TPUSLICE_KUEUE_SOURCES + "/assets.sh'"); }

std::vector<std::string> kueue_crds(const std::string& kueue) {
  std::vector<std::string> files = {std::string(TPUSLICE_KUEUE_SOURCES) + "/provisioning_request_crd.yaml"};
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(kueue + "/crds", problem)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

Result<std::unique_ptr<KueueProcess>> KueueProcess::start(ControlPlane& plane, const std::string& kueue) {
  std::unique_ptr<KueueProcess> started(new KueueProcess);
  started->dir_ = plane.dir() + "/kueue";
  started->log_ = plane.dir() + "/kueue.log";
  RETURN_IF_ERROR(started->write_files(plane));
  const Json kueue_namespace = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", kKueueNamespace}}}};
  const auto created = plane.client().create(kNamespaces, Object(kueue_namespace));
  if (!created) return created.error();
  RETURN_IF_ERROR(started->launch(kueue + "/kueue"));
  RETURN_IF_ERROR(started->wait_ready());
  RETURN_IF_ERROR(started->register_webhooks(plane.client(), kueue + "/webhooks.yaml"));
  RETURN_IF_ERROR(started->wait_for_webhooks(plane.client()));
  return started;
}

Status KueueProcess::write_files(ControlPlane& plane) {
  ASSIGN_OR_RETURN(authority_, make_webhook_certificate(dir_ + "/webhook-certs"));
  const auto metrics = make_webhook_certificate(dir_ + "/metrics-certs");  // Required, although metrics are not served.
  if (!metrics) return metrics.error();
  ASSIGN_OR_RETURN(kubeconfig_, plane.user_kubeconfig("kueue", {"system:masters"}));
  ASSIGN_OR_RETURN(const ControlPlanePorts ports, free_ports());
  webhook_port_ = ports.etcd;
  health_port_ = ports.apiserver;
  return write_private_file(dir_ + "/config.yaml", configuration(webhook_port_, health_port_));
}

Status KueueProcess::launch(const std::string& program) {
  ASSIGN_OR_RETURN(process_, Process::start({.program = program,
                                             .args = {"--config=config.yaml", "--kubeconfig=" + kubeconfig_,
                                                      "--feature-gates=VisibilityOnDemand=false"},
                                             .log = log_,
                                             .directory = dir_,
                                             .env = {{"HOME", dir_}}}));
  return {};
}

Status KueueProcess::wait_ready() {
  ASSIGN_OR_RETURN(const auto transport,
                   http::make_network_transport({.server = fmt::format("http://127.0.0.1:{}", health_port_)}));
  http::Request request;
  request.target = "/readyz";
  const bool ready = eventually(
      [&] {
        if (!process_->running()) return true;
        const auto response = transport->call(request, 2s, {});
        return response.ok() && response->status == 200;
      },
      60s);
  if (ready && process_->running()) return {};
  return Error::unavailable("kueue: {}\n{}", ready ? "exited" : "is not ready", last_lines(log_, 5));
}

Status KueueProcess::register_webhooks(client::Client& client, const std::string& manifest) const {
  ASSIGN_OR_RETURN(const std::string text, read_file(manifest));
  const auto documents = parse_yaml_documents(text);
  if (!documents) return documents.error().within(manifest);
  for (const YamlDocument& document : *documents) {
    Json object = document.value;
    object["metadata"]["name"] = "kueue-" + string_at(object, {"metadata", "name"});
    for (Json& webhook : object["webhooks"]) {
      Json& target = webhook["clientConfig"];
      target["url"] = fmt::format("https://127.0.0.1:{}{}", webhook_port_, string_at(target, {"service", "path"}));
      target["caBundle"] = encode_base64(authority_);
      target.erase("service");
      if (!is_of_kueue(webhook)) webhook["namespaceSelector"] = namespace_selector();
    }
    const ResourceType& type = string_at(object, {"kind"}) == kMutating.kind ? kMutating : kValidating;
    const auto created = client.create(type, Object(std::move(object)));
    if (!created) return created.error().within(manifest);
  }
  return {};
}

Status KueueProcess::wait_for_webhooks(client::Client& client) const {
  const Json container = {{"name", "c"}, {"image", "i"}};
  const Json pod = {{"restartPolicy", "Never"}, {"containers", Json::array({container})}};
  const Json job = {
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata", {{"name", "probe"}, {"namespace", "default"}, {"labels", {{"kueue.x-k8s.io/queue-name", "probe"}}}}},
      {"spec", {{"template", {{"spec", pod}}}}}};
  const bool called = eventually(
      [&] {
        const auto probe = client.create(kJobs, Object(job), {.dry_run = true});
        return probe.ok() && bool_at(probe->json(), {"spec", "suspend"});
      },
      30s);
  if (called) return {};
  return Error::of(ErrorCode::kTimeout, "kueue: its webhooks are not called\n{}", last_lines(log_, 5));
}

}  // namespace tpuslice::testing
