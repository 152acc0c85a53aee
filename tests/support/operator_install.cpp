// Installs the files of deploy/ in a cluster.
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/base/file.h"
#include "api/types/yaml.h"
#include "tests/support/loopback_identity.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRbacGroup = "rbac.authorization.k8s.io";
constexpr const char* kAdmissionGroup = "admissionregistration.k8s.io";
/// The kinds of deploy/ that are installed.
constexpr std::array kInstalled = {
    kNamespaces,
    ResourceType{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", false},
    ResourceType{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false},
    ResourceType{"", "v1", "ServiceAccount", "serviceaccounts"},
    ResourceType{kRbacGroup, "v1", "ClusterRole", "clusterroles", false},
    ResourceType{kRbacGroup, "v1", "ClusterRoleBinding", "clusterrolebindings", false},
    ResourceType{kRbacGroup, "v1", "Role", "roles"},
    ResourceType{kRbacGroup, "v1", "RoleBinding", "rolebindings"},
    ResourceType{kAdmissionGroup, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false},
    ResourceType{kAdmissionGroup, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false},
    ResourceType{kAdmissionGroup, "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", false},
    ResourceType{kAdmissionGroup, "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false},
};
const ObjectKey kAccount{"tpu-slice-system", "tpu-slice-operator"};

std::string deploy_file(const std::string& file) { return std::string(TPUSLICE_DEPLOY) + "/" + file; }

const ResourceType* type_of(const Object& object) {
  for (const ResourceType& type : kInstalled) {
    if (object.kind() == type.kind && object.api_version() == type.api_version()) return &type;
  }
  return nullptr;
}

Result<std::vector<YamlDocument>> read_manifest(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  auto documents = parse_yaml_documents(text);
  if (!documents) return documents.error().within(path);
  return documents;
}

/// The manifests of a folder of deploy/, in the order of their names.
Result<std::vector<std::string>> manifests_of(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(deploy_file(folder), problem)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  }
  if (paths.empty()) return Error::not_found("{}: no manifests", deploy_file(folder));
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status apply_manifest(client::Client& client, const std::string& path) {
  ASSIGN_OR_RETURN(const auto documents, read_manifest(path));
  for (const YamlDocument& document : documents) {
    const Object object(document.value);
    const std::string where = fmt::format("{}:{}", path, document.line);
    const ResourceType* const type = type_of(object);
    if (type == nullptr) return Error::invalid_argument("{}: kind {} cannot be installed", where, object.kind());
    const auto applied = client.patch(*type, object.key(), client::PatchType::kApply, object.json(), {.force = true});
    if (!applied) return applied.error().within(where);
  }
  return {};
}

Status apply_folder(client::Client& client, const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, manifests_of(folder));
  for (const std::string& path : paths) RETURN_IF_ERROR(apply_manifest(client, path));
  return {};
}

}  // namespace

Status install_operator(client::Client& client) {
  RETURN_IF_ERROR(apply_folder(client, "crds"));
  RETURN_IF_ERROR(apply_manifest(client, deploy_file("operator/namespace.yaml")));
  RETURN_IF_ERROR(apply_manifest(client, deploy_file("operator/scouts.yaml")));
  RETURN_IF_ERROR(apply_folder(client, "rbac"));
  return apply_manifest(client, deploy_file("webhook/policy.yaml"));
}

Result<std::string> install_operator(ControlPlane& plane) {
  RETURN_IF_ERROR(install_operator(plane.client()));
  return plane.service_account_kubeconfig(kAccount);
}

Object webhook_on_loopback(Object configuration, int port, const std::string& authority) {
  for (Json& webhook : configuration.mutable_json()["webhooks"]) {
    Json& target = webhook["clientConfig"];
    target["url"] = fmt::format("https://127.0.0.1:{}{}", port, string_at(target, {"service", "path"}));
    target.erase("service");
    if (!authority.empty()) target["caBundle"] = encode_base64(authority);
  }
  return configuration;
}

Status register_webhook(client::Client& client, int port, const std::string& authority) {
  const std::string path = deploy_file("webhook/webhook.yaml");
  ASSIGN_OR_RETURN(const auto documents, read_manifest(path));
  for (const YamlDocument& document : documents) {
    Object object(document.value);
    const ResourceType* const type = type_of(object);
    if (type == nullptr || type->group != kAdmissionGroup) continue;  // The Service is not needed.
    const Status removed = client.remove(*type, object.key());
    if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed;
    const auto created = client.create(*type, webhook_on_loopback(std::move(object), port, authority));
    if (!created) return created.error().within(fmt::format("{}:{}", path, document.line));
  }
  return {};
}

bool fails_closed(client::Client& client) {
  const auto configuration =
      client.get({kAdmissionGroup, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false},
                 {{}, "tpu-slice-operator"});
  if (!configuration) return false;
  return std::ranges::any_of(array_at(configuration->json(), {"webhooks"}), [](const Json& webhook) {
    return string_at(webhook, {"name"}) == "pods.tpuslice.dev" && string_at(webhook, {"failurePolicy"}) == "Fail";
  });
}

Result<std::string> make_webhook_certificate(const std::string& directory) {
  ASSIGN_OR_RETURN(const LoopbackIdentity identity, make_loopback_identity("test-webhook"));
  std::error_code problem;
  fs::create_directories(directory, problem);
  RETURN_IF_ERROR(write_private_file(directory + "/tls.crt", identity.leaf.certificate_chain));
  RETURN_IF_ERROR(write_private_file(directory + "/tls.key", identity.leaf.private_key));
  return identity.authority;
}

Result<int> free_port() {
  ASSIGN_OR_RETURN(const ControlPlanePorts ports, free_ports());
  return ports.etcd;
}

}  // namespace tpuslice::testing
