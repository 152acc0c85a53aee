// Objects that a ControlPlane creates: CRDs, policies, nodes, tokens.
#include <fmt/format.h>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-sim/cluster/nodes/kubelet.h"
#include "tests/support/control_plane.h"

namespace tpuslice::testing {
namespace {

constexpr ResourceType kDefinitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                    "customresourcedefinitions", false};

constexpr ResourceType kPolicies{"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy",
                                 "validatingadmissionpolicies", false};
constexpr ResourceType kPolicyBindings{"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding",
                                       "validatingadmissionpolicybindings", false};

bool has_condition(const Json& object, std::string_view type) {
  for (const Json& condition : array_at(object, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) == type) return string_at(condition, {"status"}) == "True";
  }
  return false;
}

/// Ready, and without the taint of a node that is not.
bool is_schedulable(const Json& node) {
  for (const Json& taint : array_at(node, {"spec", "taints"})) {
    if (string_at(taint, {"key"}) == "node.kubernetes.io/not-ready") return false;
  }
  return has_condition(node, "Ready");
}

}  // namespace

Status ControlPlane::apply_crds() {
  for (const std::string& path : options_.crds) {
    ASSIGN_OR_RETURN(const std::string text, read_file(path));
    const auto documents = parse_yaml_documents(text);
    if (!documents) return documents.error().within(path);
    for (const YamlDocument& document : *documents) {
      const auto created = client_->create(kDefinitions, Object(document.value));
      if (!created) return created.error().within(path);
      RETURN_IF_ERROR(wait_for(created->name(), [&] {
        const auto seen = client_->get(kDefinitions, created->key());
        return seen.ok() && has_condition(seen->json(), "Established");
      }));
    }
  }
  return {};
}

Status ControlPlane::apply_kubelet_policy() {
  const std::string path = control_plane_sources() + "/kubelet_policy.yaml";
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  const auto documents = parse_yaml_documents(text);
  if (!documents) return documents.error().within(path);
  for (const YamlDocument& document : *documents) {
    const bool policy = string_at(document.value, {"kind"}) == kPolicies.kind;
    const auto created = client_->create(policy ? kPolicies : kPolicyBindings, Object(document.value));
    if (!created) return created.error().within(path);
  }
  return {};
}

Status ControlPlane::add_pools(const std::vector<sim::NodePool>& pools) {
  for (const sim::NodePool& pool : pools) {
    for (int host = 0; host < pool.hosts; ++host) {
      Json node = sim::make_node(pool, host, nodes_++, format_rfc3339(clock_.wall()));
      // kwok sets the conditions.
      if (options_.kwok) node["status"]["conditions"] = Json::array();
      const auto created = client_->create(kNodes, Object(std::move(node)));
      if (!created) return created.error();
    }
  }
  if (pools.empty() || !options_.kwok || !options_.controllers) return {};
  return wait_for("Ready nodes", [&] {
    const auto list = client_->list(kNodes, {.limit = 0});
    if (!list) return false;
    std::map<std::string, bool> seen;
    for (const std::string& item : list->items) {
      const auto node = parse_json(item);
      if (node) seen[string_at(*node, {"metadata", "name"})] = is_schedulable(*node);
    }
    for (const sim::NodePool& pool : pools) {
      for (int host = 0; host < pool.hosts; ++host) {
        if (!seen[sim::node_name(pool, host)]) return false;
      }
    }
    return true;
  });
}

Status ControlPlane::replace_pools(const std::vector<sim::NodePool>& pools) {
  // kwok queues the next renewal of a Lease even if the node was deleted meanwhile. Two entries of one node, this one
  // and that of a new node of its name, would block the queue for the Leases of all nodes (kwok 0.8, Heap.Push).
  kill_kwok();
  ASSIGN_OR_RETURN(const client::ListPage nodes, client_->list(kNodes, {.limit = 0}));
  for (const std::string& item : nodes.items) {
    ASSIGN_OR_RETURN(const Json node, parse_json(item));
    RETURN_IF_ERROR(client_->remove(kNodes, {{}, string_at(node, {"metadata", "name"})}, {}));
  }
  RETURN_IF_ERROR(wait_for("deleted nodes", [&] {
    const auto left = client_->list(kNodes, {.limit = 1});
    return left.ok() && left->items.empty();
  }));
  if (options_.kwok) RETURN_IF_ERROR(start_kwok());
  RETURN_IF_ERROR(add_pools(pools));
  if (Process* const kwok = process("kwok")) kwok->restart_on_exit();
  return {};
}

Status ControlPlane::annotate_ready(const std::string& node, const Json& value) {
  const Json patch = {{"metadata", {{"annotations", {{sim::kNodeReadyAnnotation, value}}}}}};
  const auto patched = client_->patch(kNodes, {{}, node}, client::PatchType::kMerge, patch);
  if (!patched) return patched.error();
  return {};
}

Status ControlPlane::lose_node(const std::string& name) { return annotate_ready(name, "false"); }

Status ControlPlane::return_node(const std::string& name) { return annotate_ready(name, nullptr); }

Result<std::string> ControlPlane::service_account_kubeconfig(const ObjectKey& account) {
  http::Request request;
  request.method = "POST";
  request.target = fmt::format("/api/v1/namespaces/{}/serviceaccounts/{}/token", account.namespace_name, account.name);
  request.headers = {{"Content-Type", "application/json"}};
  request.body = Json({{"apiVersion", "authentication.k8s.io/v1"},
                       {"kind", "TokenRequest"},
                       {"spec", {{"expirationSeconds", 24 * 3600}}}})
                     .dump();
  ASSIGN_OR_RETURN(const http::Response response, client_->raw(std::move(request)));
  ASSIGN_OR_RETURN(const Json answer, parse_json(response.body));
  const std::string path = fmt::format("{}/{}-{}.kubeconfig", dir(), account.namespace_name, account.name);
  RETURN_IF_ERROR(write_private_file(
      path,
      kubeconfig_text(server(), authority(), {}, string_at(answer, {"status", "token"}), account.namespace_name)));
  return path;
}

}  // namespace tpuslice::testing
