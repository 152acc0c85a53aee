// The manifests that a workload kind needs, checked against its kind::Kind: what a person forgot who added a kind.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "api/types/json.h"
#include "controllers/kind/kind.h"

namespace tpuslice::kind {

[[nodiscard]] inline bool lists(const Json& json, std::string_view member, std::string_view value) {
  return std::ranges::any_of(array_at(json, {member}), [&](const Json& each) { return each == value; });
}

/// The CRD serves the version that the operator uses, with a status.
[[nodiscard]] inline bool has_definition(const Kind& kind, const std::vector<Json>& manifests) {
  return std::ranges::any_of(manifests, [&](const Json& object) {
    if (string_at(object, {"kind"}) != "CustomResourceDefinition") return false;
    if (string_at(object, {"metadata", "name"}) != kind.type.resource()) return false;
    if (string_at(object, {"spec", "names", "kind"}) != kind.type.kind) return false;
    return std::ranges::any_of(array_at(object, {"spec", "versions"}), [&](const Json& version) {
      return string_at(version, {"name"}) == kind.type.version && bool_at(version, {"served"}) &&
             find_path(version, {"subresources", "status"}) != nullptr;
    });
  });
}

/// The API server posts creations and updates of its objects to the path of its admission.
[[nodiscard]] inline bool has_webhook(const Kind& kind, const std::vector<Json>& manifests) {
  const auto matches = [&](const Json& rule) {
    return lists(rule, "apiGroups", kind.type.group) && lists(rule, "apiVersions", kind.type.version) &&
           lists(rule, "resources", kind.type.plural) && lists(rule, "operations", "CREATE") &&
           lists(rule, "operations", "UPDATE");
  };
  return std::ranges::any_of(manifests, [&](const Json& object) {
    if (string_at(object, {"kind"}) != "ValidatingWebhookConfiguration") return false;
    return std::ranges::any_of(array_at(object, {"webhooks"}), [&](const Json& webhook) {
      return string_at(webhook, {"clientConfig", "service", "path"}) == kind.admission.path &&
             std::ranges::any_of(array_at(webhook, {"rules"}), matches);
    });
  });
}

/// The role has `verb` on `resource`, and on all objects unless one is named.
[[nodiscard]] inline bool allows(const Json& role, std::string_view group, std::string_view resource,
                                 std::string_view verb, std::string_view name = {}) {
  return std::ranges::any_of(array_at(role, {"rules"}), [&](const Json& rule) {
    const bool all = array_at(rule, {"resourceNames"}).empty();
    return lists(rule, "apiGroups", group) && lists(rule, "resources", resource) && lists(rule, "verbs", verb) &&
           (all || lists(rule, "resourceNames", name));
  });
}

/// Kubernetes adds the ClusterRole to those of users. The operator does not have it.
[[nodiscard]] inline bool is_for_users(const Json& role) {
  const Json* labels = find_path(role, {"metadata", "labels"});
  if (labels == nullptr) return false;
  return std::ranges::any_of(labels->items(), [](const auto& label) {
    return label.key().starts_with("rbac.authorization.k8s.io/aggregate-to-");
  });
}

/// A ClusterRole of the operator allows it.
[[nodiscard]] inline bool grants(std::string_view group, std::string_view resource, std::string_view verb,
                                 const std::vector<Json>& manifests, std::string_view name = {}) {
  return std::ranges::any_of(manifests, [&](const Json& object) {
    return string_at(object, {"kind"}) == "ClusterRole" && !is_for_users(object) &&
           allows(object, group, resource, verb, name);
  });
}

/// What `manifests` lack of the kind; one sentence each.
[[nodiscard]] inline std::vector<std::string> missing_manifests(const Kind& kind, const std::vector<Json>& manifests) {
  std::vector<std::string> missing;
  const auto expect = [&](bool found, std::string what) {
    if (!found) missing.push_back(fmt::format("{}: {}", kind.controller, what));
  };
  const std::string status = fmt::format("{}/status", kind.type.plural);
  const std::string finalizers = fmt::format("{}/finalizers", kind.type.plural);
  expect(has_definition(kind, manifests), fmt::format("no CRD of {} with a status", kind.type.resource()));
  expect(has_webhook(kind, manifests), fmt::format("no webhook posts {} to {}", kind.type.plural, kind.admission.path));
  for (const std::string_view verb : {"list", "watch"}) {
    expect(grants(kind.type.group, kind.type.plural, verb, manifests),
           fmt::format("no ClusterRole may {} {}", verb, kind.type.plural));
  }
  expect(grants(kind.type.group, status, "patch", manifests), fmt::format("no ClusterRole may patch {}", status));
  // The owner references of children block the deletion of their owner.
  expect(grants(kind.type.group, finalizers, "update", manifests),
         fmt::format("no ClusterRole may update {}", finalizers));
  if (!kind.finalizer.name.empty()) {
    expect(grants(kind.type.group, kind.type.plural, "patch", manifests),
           fmt::format("no ClusterRole may patch {}, which have a finalizer", kind.type.plural));
  }
  if (kind.upstream.exists()) {
    expect(grants("coordination.k8s.io", "leases", "watch", manifests, kind.upstream.lease),
           fmt::format("no ClusterRole may watch the Lease {} of {}", kind.upstream.lease, kind.upstream.name));
  }
  return missing;
}

}  // namespace tpuslice::kind
