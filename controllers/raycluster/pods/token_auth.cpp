#include "controllers/raycluster/pods/token_auth.h"

#include <algorithm>
#include <utility>

#include "api/types/resource_type.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/pods/environment.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

/// Key of the token in its Secret.
constexpr std::string_view kTokenKey = "auth_token";
constexpr std::string_view kTokenVolume = "ray-token";
constexpr std::string_view kTokenMountPath = "/var/run/secrets/ray.io/serviceaccount";

/// Appends to a list member of `parent`, unless it has an element of that name.
void append_named(Json& parent, const char* member, Json element) {
  Json& list = parent[member];
  if (!list.is_array()) list = Json::array();
  const std::string name = string_at(element, {"name"});
  if (std::ranges::none_of(list, [&](const Json& each) { return is_named(each, name); })) {
    list.push_back(std::move(element));
  }
}

/// The kubelet has reported that it does not find the Secret. In its words: secret "train" not found.
bool waits_for_secret(const PodView& pod, const std::string& secret) {
  const std::string missing = fmt::format("secret \"{}\" not found", secret);
  return std::ranges::any_of(pod.containers, [&](const ContainerView& container) {
    return container.waiting_reason == "CreateContainerConfigError" &&
           container.waiting_message.str().find(missing) != std::string::npos;
  });
}

}  // namespace

void add_token_auth(const RayClusterSpec& spec, Json& container) {
  add_default_variable(container, {{"name", "RAY_AUTH_MODE"}, {"value", "token"}});
  if (spec.auth.service_accounts) {
    add_default_variable(container, {{"name", "RAY_ENABLE_K8S_TOKEN_AUTH"}, {"value", "true"}});
    append_named(container, "volumeMounts",
                 {{"name", kTokenVolume}, {"mountPath", kTokenMountPath}, {"readOnly", true}});
    return;
  }
  const std::string secret = spec.auth.secret.empty() ? auth_secret_name(spec) : spec.auth.secret;
  add_default_variable(container, {{"name", "RAY_AUTH_TOKEN"},
                                   {"valueFrom", {{"secretKeyRef", {{"name", secret}, {"key", kTokenKey}}}}}});
}

void add_pod_token_auth(const RayClusterSpec& spec, Json& pod_spec) {
  add_token_auth(spec, pod_spec["containers"][0]);
  for (Json& container : pod_spec["initContainers"]) {
    if (is_named(container, kWaitGcsReady)) add_token_auth(spec, container);
  }
  if (!spec.auth.service_accounts) return;
  const Json token = {{"serviceAccountToken", {{"path", "token"}}}};
  append_named(pod_spec, "volumes", {{"name", kTokenVolume}, {"projected", {{"sources", Json::array({token})}}}});
}

bool needs_auth_secret(const RayClusterSpec& spec, const HeadDecision& decision, const std::vector<PodPtr>& heads) {
  if (!spec.auth.creates_secret()) return false;
  if (decision.create) return true;
  const std::string name = auth_secret_name(spec);
  return std::ranges::any_of(heads,
                             [&](const PodPtr& head) { return !head->terminating() && waits_for_secret(*head, name); });
}

plan::Action create_auth_secret(const RayClusterSpec& spec) {
  Json labels = Json::object();
  set_label(labels, kRayCluster, spec.key.name);
  plan::Action action =
      plan::Action::create(kSecrets, Object({{"apiVersion", kSecrets.api_version()},
                                             {"kind", kSecrets.kind},
                                             {"metadata",
                                              {{"name", auth_secret_name(spec)},
                                               {"namespace", spec.key.namespace_name},
                                               {"labels", std::move(labels)},
                                               {"ownerReferences", Json::array({spec.owner.to_json()})}}}}));
  action.failure_reason = kFailedSecret;
  action.random_token = kTokenKey;
  return action;
}

}  // namespace tpuslice::raycluster
