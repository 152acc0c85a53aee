// Bench: the operator and its webhook.
#include <utility>

#include "tests/bench/bench.h"
#include "tests/bench/machine.h"

namespace tpuslice::bench {
namespace {

constexpr const char* kAdmission = "admissionregistration.k8s.io";
constexpr ResourceType kMutating{kAdmission, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations",
                                 false};
constexpr ResourceType kValidating{kAdmission, "v1", "ValidatingWebhookConfiguration",
                                   "validatingwebhookconfigurations", false};
constexpr const char* kConfiguration = "tpu-slice-operator";
constexpr Duration kStopLimit = std::chrono::seconds(40);

}  // namespace

Status Bench::start_operator(Kind kind, bool serve) {
  testing::OperatorProcessOptions options;
  options.kubeconfig = account_;
  options.log = plane_->dir() + "/operator.log";
  options.program = options_.operator_program;
  if (kind != Kind::kRayCluster) {
    ASSIGN_OR_RETURN(options.webhook_port, testing::free_port());
    RETURN_IF_ERROR(testing::register_webhook(plane_->client(), options.webhook_port));
    std::string controllers = "--controllers=*";
    if (!options_.gangs) controllers += ",-slice";
    if (!serve) controllers += ",-leaderworkerset";
    options.flags = {controllers};
  } else {
    options.flags = {"--controllers=raycluster"};
  }
  ASSIGN_OR_RETURN(operator_, testing::OperatorProcess::start(std::move(options)));
  return {};
}

Status Bench::stop_operator() {
  const Status stopped = operator_->stop(kStopLimit);
  operator_.reset();
  RETURN_IF_ERROR(stopped);
  return remove_webhook();
}

Status Bench::wait_for_webhook(const std::string& namespace_name, const std::function<bool()>& called) {
  const Object probe({{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"metadata", {{"name", "probe"}, {"namespace", namespace_name}}},
                      {"spec",
                       {{"containers", Json::array({{{"name", "probe"},
                                                     {"image", "probe"},
                                                     {"resources", {{"limits", {{"google.com/tpu", 4}}}}}}})}}}});
  const Instant until = clock_.now() + options_.limit;
  while (!called()) {
    if (clock_.now() > until) return Error::of(ErrorCode::kTimeout, "the API server does not call the webhook");
    // It may fail while the webhook's certificate is new.
    (void)plane_->client().create(kPods, probe, {.dry_run = true});
    pause_for(std::chrono::milliseconds(20));
  }
  return {};
}

Status Bench::remove_webhook() {
  for (const ResourceType& type : {kMutating, kValidating}) {
    const Status removed = plane_->client().remove(type, {{}, kConfiguration});
    if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed;
  }
  return {};
}

Result<double> Bench::admitted_pods() {
  return operator_->metric("controller_runtime_webhook_requests_total",
                           {{"code", "200"}, {"webhook", "/mutate-v1-pod"}});
}

}  // namespace tpuslice::bench
