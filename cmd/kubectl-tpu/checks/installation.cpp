#include "cmd/kubectl-tpu/checks/installation.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "api/types/json.h"
#include "cmd/kubectl-tpu/checks/types.h"
#include "cmd/tpu-slice-operator/kinds.h"

namespace tpuslice::plugin {
namespace {

/// The Helm release or the program that has installed the object.
std::string installer_of(const Object& object) {
  const std::string release = object.annotation("meta.helm.sh/release-name");
  if (!release.empty()) return "Helm release " + release;
  std::string manager = object.label("app.kubernetes.io/managed-by");
  if (!manager.empty()) return manager;
  // The first one has created it.
  return string_at(object.json(), {"metadata", "managedFields", "0", "manager"}, "an unknown program");
}

bool serves(const Object& definition, std::string_view version) {
  return std::ranges::any_of(array_at(definition.json(), {"spec", "versions"}), [version](const Json& each) {
    return string_at(each, {"name"}) == version && bool_at(each, {"served"});
  });
}

Finding check_crd(const CheckInput& input, const ResourceType& type) {
  const std::string check = "crd " + std::string(type.plural);
  const auto found = input.api.get(kCustomResourceDefinitions, {"", type.resource()}, input.stop);
  if (!found && found.error().code() == ErrorCode::kNotFound) {
    return {check, Verdict::kWarning, "not installed: workloads of this kind cannot be created",
            "kubectl apply --server-side -k deploy/crds"};
  }
  if (!found) return finding_of(check, found.error());
  if (!serves(*found, type.version)) {
    return {check, Verdict::kFailure, fmt::format("version {} is not served", type.version),
            "kubectl get crd " + type.resource() + " -o yaml"};
  }
  return {check, Verdict::kOk, fmt::format("serves {}, installed by {}", type.version, installer_of(*found))};
}

Finding check_lease(const CheckInput& input) {
  const std::string check = "leader";
  const auto lease = input.api.get(kLeases, {input.operator_namespace, std::string(kOperatorName)}, input.stop);
  if (!lease) return finding_of(check, lease.error(), Verdict::kWarning);
  const std::string holder = string_at(lease->json(), {"spec", "holderIdentity"});
  if (holder.empty()) {
    return {check, Verdict::kFailure, "no replica leads: nothing is reconciled",
            "kubectl -n " + input.operator_namespace + " get pods"};
  }
  return {check, Verdict::kOk, holder};
}

/// The operator's webhooks of a configuration without a CA bundle.
Finding check_configuration(const CheckInput& input, const ResourceType& type) {
  const std::string check = type.kind == kMutatingWebhooks.kind ? "webhook pods" : "webhook kinds";
  const auto found = input.api.get(type, {"", std::string(kOperatorName)}, input.stop);
  if (!found && found.error().code() == ErrorCode::kNotFound) {
    return {check, Verdict::kFailure, "no webhook configuration: pods get no identity",
            "kubectl apply --server-side -f deploy/install.yaml"};
  }
  if (!found) return finding_of(check, found.error());
  std::size_t without = 0;
  std::string policies;
  const Json& webhooks = array_at(found->json(), {"webhooks"});
  for (const Json& webhook : webhooks) {
    if (string_at(webhook, {"clientConfig", "caBundle"}).empty()) ++without;
    if (string_at(webhook, {"name"}) == "pods.tpuslice.dev") policies = string_at(webhook, {"failurePolicy"});
  }
  if (without > 0) {
    return {
        check, Verdict::kFailure,
        fmt::format("{} of {} webhooks have no CA bundle: the operator has not written it", without, webhooks.size()),
        fmt::format("kubectl -n {} logs deployment/{}", input.operator_namespace, kOperatorName)};
  }
  const std::string policy = policies.empty() ? std::string() : ", failurePolicy " + policies;
  return {check, Verdict::kOk, fmt::format("{} webhooks with a CA bundle{}", webhooks.size(), policy)};
}

template <typename Findings>
void append(std::vector<Finding>& all, Findings more) {
  std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

Finding check_api_server(const CheckInput& input) {
  const auto answer = input.api.raw({.target = "/version"}, input.stop);
  if (!answer) return finding_of("api server", answer.error());
  const auto version = parse_json(answer->body);
  if (!version) return finding_of("api server", version.error());
  return {"api server", Verdict::kOk, "Kubernetes " + string_at(*version, {"gitVersion"})};
}

std::vector<Finding> check_crds(const CheckInput& input) {
  std::vector<Finding> found;
  for (const kind::Kind* each : kinds()) found.push_back(check_crd(input, each->type));
  return found;
}

std::vector<Finding> check_operator(const CheckInput& input) {
  const ObjectKey key{input.operator_namespace, std::string(kOperatorName)};
  const auto deployment = input.api.get(kDeployments, key, input.stop);
  if (!deployment && deployment.error().code() == ErrorCode::kNotFound) {
    return {{"operator", Verdict::kFailure, "no Deployment " + key.to_string(),
             "kubectl apply --server-side -f deploy/install.yaml"}};
  }
  if (!deployment) return {finding_of("operator", deployment.error())};
  const Json& json = deployment->json();
  const std::int64_t wanted = int_at(json, {"spec", "replicas"}, 1);
  const std::int64_t ready = int_at(json, {"status", "readyReplicas"});
  const std::string image = string_at(json, {"spec", "template", "spec", "containers", "0", "image"});
  const Verdict verdict = ready == 0 ? Verdict::kFailure : ready < wanted ? Verdict::kWarning : Verdict::kOk;
  Finding replicas{"operator", verdict, fmt::format("{} of {} replicas Ready, image {}", ready, wanted, image)};
  if (verdict != Verdict::kOk) replicas.next = "kubectl -n " + input.operator_namespace + " get pods";
  return {replicas, check_lease(input)};
}

std::vector<Finding> check_webhook_configurations(const CheckInput& input) {
  return {check_configuration(input, kMutatingWebhooks), check_configuration(input, kValidatingWebhooks)};
}

std::vector<Finding> check_installation(const CheckInput& input) {
  std::vector<Finding> all = {check_api_server(input)};
  if (all.front().verdict == Verdict::kFailure) return all;  // All others would say the same.
  append(all, check_crds(input));
  append(all, check_operator(input));
  append(all, check_webhook_configurations(input));
  all.push_back(check_webhook_call(input));
  append(all, check_upstream(input));
  all.push_back(check_pods(input));
  append(all, check_rights(input));
  return all;
}

}  // namespace tpuslice::plugin
