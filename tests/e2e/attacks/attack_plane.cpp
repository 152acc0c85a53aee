#include "tests/e2e/attacks/attack_plane.h"

#include <algorithm>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "api/base/pause.h"
#include "api/client/config.h"
#include "api/client/credentials.h"
#include "tests/support/eventually.h"
#include "tests/support/pods.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr ResourceType kCrds{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
                             false};
constexpr ResourceType kValidating{"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
                                   "validatingwebhookconfigurations", false};
constexpr ResourceType kBindings{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", false};
constexpr ResourceType kPolicyBindings{"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding",
                                       "validatingadmissionpolicybindings", false};
constexpr Duration kPodInterval = 20ms;
constexpr int kMinPods = 60;

/// Removes the limits of a schema, and its rules, whose cost is limited by them.
void remove_limits(Json& schema) {
  if (schema.is_object()) {
    schema.erase("x-kubernetes-validations");
    for (const char* limit : {"maximum", "maxItems"}) {
      if (schema.contains(limit) && schema[limit].is_number()) schema.erase(limit);
    }
  }
  if (!schema.is_structured()) return;
  for (Json& member : schema) remove_limits(member);
}

}  // namespace

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

Object legitimate_pod() {
  Json pod = tpu::testing::RayPod{.group = "other-tenant"}.json();
  for (Json& container : pod["spec"]["containers"]) container["image"] = "i";
  return Object(std::move(pod));
}

Result<std::unique_ptr<AttackPlane>> AttackPlane::start(const AttackPlaneOptions& wanted) {
  std::unique_ptr<AttackPlane> out(new AttackPlane());
  ASSIGN_OR_RETURN(out->plane_, ControlPlane::start({.scheduler = false,
                                                     .kwok = false,
                                                     .etcd_flags = wanted.etcd_flags,
                                                     .apiserver_flags = wanted.apiserver_flags}));
  ControlPlane& plane = *out->plane_;
  RETURN_IF_ERROR(out->connect_tenant());
  OperatorProcessOptions options;
  ASSIGN_OR_RETURN(options.kubeconfig, install_operator(plane));
  ASSIGN_OR_RETURN(out->port_, free_port());
  options.log = plane.dir() + "/operator.log";
  options.program = wanted.program;
  options.webhook_port = out->port_;
  options.webhook_cert_dir = plane.dir() + "/webhook";
  ASSIGN_OR_RETURN(out->authority_, make_webhook_certificate(options.webhook_cert_dir));
  RETURN_IF_ERROR(register_webhook(plane.client(), out->port_, out->authority_));
  ASSIGN_OR_RETURN(out->operator_, OperatorProcess::start(options));
  const bool registered = eventually([&] {
    const auto pod = out->client().create(kPods, legitimate_pod(), {.dry_run = true});
    return pod.ok() && tpu::testing::env_value(pod->json(), "TPU_WORKER_ID") == "0";
  });
  if (!registered) return Error::of(ErrorCode::kTimeout, "the API server does not call the webhook");
  out->wait_for_rest();
  const double before = out->operator_->cpu_seconds().value_or(0);
  std::stop_source stop;
  stop.request_stop();
  const std::size_t pods = out->admit_pods(stop.get_token()).size();
  out->cpu_per_pod_ = (out->operator_->cpu_seconds().value_or(0) - before) / static_cast<double>(pods);
  return out;
}

Status AttackPlane::connect_tenant() {
  ASSIGN_OR_RETURN(const std::string kubeconfig, plane_->user_kubeconfig("tenant"));
  ASSIGN_OR_RETURN(const client::ClientConfig config, client::load_kubeconfig(kubeconfig));
  ASSIGN_OR_RETURN(transport_, client::make_transport(config, clock_));
  tenant_ = std::make_unique<client::Client>(*transport_);
  const Json binding = {
      {"apiVersion", kBindings.api_version()},
      {"kind", kBindings.kind},
      {"metadata", {{"name", "tenant"}}},
      {"roleRef", {{"apiGroup", kBindings.group}, {"kind", "ClusterRole"}, {"name", "cluster-admin"}}},
      {"subjects", Json::array({Json{{"apiGroup", kBindings.group}, {"kind", "User"}, {"name", "tenant"}}})}};
  const auto bound = plane_->client().create(kBindings, Object(binding));
  return bound ? Status() : bound.error();
}

/// At least kMinPods, then until `stop`. Returns the milliseconds of each.
std::vector<double> AttackPlane::admit_pods(const std::stop_token& stop) {
  const RealClock clock;
  const Object pod = legitimate_pod();
  std::vector<double> times;
  while (!stop.stop_requested() || times.size() < kMinPods) {
    const Instant begin = clock.now();
    const auto admitted = client().create(kPods, pod, {.dry_run = true});
    const Duration took = clock.now() - begin;
    times.push_back(admitted.ok() ? std::chrono::duration<double, std::milli>(took).count() : 1e6);
    if (took < kPodInterval) tpuslice::pause(kPodInterval - took, {});
  }
  return times;
}

void AttackPlane::wait_for_rest() {
  double before = operator_->cpu_seconds().value_or(0);
  for (int i = 0; i < 30; ++i) {
    tpuslice::pause(200ms, {});
    const double now = operator_->cpu_seconds().value_or(0);
    if (now - before < 0.031) return;  // Three ticks: pods are admitted meanwhile.
    before = now;
  }
}

AttackCost AttackPlane::measure(const std::function<void()>& attack) {
  wait_for_rest();
  // 5: reset the peak of resident memory. Source: proc(5), /proc/pid/clear_refs.
  std::ofstream(fmt::format("/proc/{}/clear_refs", operator_->pid())) << "5";
  const double before = operator_->cpu_seconds().value_or(0);
  std::vector<double> times;
  {
    std::jthread tenant([&](const std::stop_token& stop) { times = admit_pods(stop); });
    attack();
    wait_for_rest();
  }
  AttackCost cost;
  cost.peak_mib = operator_->peak_resident_mib().value_or(1e6);
  cost.cpu_seconds =
      std::max(0.0, operator_->cpu_seconds().value_or(1e6) - before - cpu_per_pod_ * static_cast<double>(times.size()));
  cost.median_ms = percentile(times, 0.5);
  cost.p99_ms = percentile(times, 0.99);
  cost.slowest_ms = percentile(times, 1);
  return cost;
}

Status AttackPlane::allow_all() {
  ASSIGN_OR_RETURN(const client::ListPage crds, client().list(kCrds, {}, {}));
  for (const std::string& item : crds.items) {
    ASSIGN_OR_RETURN(Json crd, parse_json(item));
    crd["apiVersion"] = kCrds.api_version();
    crd["kind"] = kCrds.kind;
    remove_limits(crd["spec"]);
    const auto replaced = client().replace(kCrds, Object(std::move(crd)), {});
    if (!replaced) return replaced.error();
  }
  RETURN_IF_ERROR(client().remove(kPolicyBindings, {"", "tpu-slice-operator"}, {}));
  return client().remove(kValidating, {"", "tpu-slice-operator"}, {});
}

void AttackPlane::clean_up() {
  for (const auto& [path, verb] :
       {std::pair("/apis/ray.io/v1/namespaces/default/rayclusters", "DELETE"),
        std::pair("/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets", "DELETE"),
        std::pair("/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets", "DELETE"),
        std::pair("/apis/apps/v1/namespaces/default/statefulsets", "DELETE"),
        std::pair("/api/v1/namespaces/default/pods?gracePeriodSeconds=0", "DELETE")}) {
    static_cast<void>(client().raw({verb, path}));
  }
}

Result<std::unique_ptr<http::BlockingConnection>> AttackPlane::connect_to_webhook(const std::string& local_address,
                                                                                  int window) const {
  http::BlockingOptions options;
  options.server = http::parse_base_url(fmt::format("https://127.0.0.1:{}", port_)).value();
  options.ca = authority_;
  options.local_address = local_address;
  options.window = window;
  return http::BlockingConnection::connect(options);
}

}  // namespace tpuslice::testing
