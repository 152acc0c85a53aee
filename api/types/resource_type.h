// ResourceType: the group, version, kind and plural that name a Kubernetes resource, and its URL paths.
#pragma once

#include <string>
#include <string_view>

namespace tpuslice {

struct ResourceType {
  std::string_view group;    ///< "" for the core group.
  std::string_view version;  ///< "v1"
  std::string_view kind;     ///< "Pod"
  std::string_view plural;   ///< "pods"
  bool namespaced = true;

  /// "v1" or "ray.io/v1", as in `apiVersion`.
  [[nodiscard]] std::string api_version() const;
  /// "pods" or "rayclusters.ray.io": unique over all resources.
  [[nodiscard]] std::string resource() const;
  /// "/api/v1/namespaces/<namespace>/pods/<name>/<subresource>"; empty parts are left out, an empty namespace means
  /// all of them.
  [[nodiscard]] std::string path(std::string_view namespace_name, std::string_view name = {},
                                 std::string_view subresource = {}) const;

  friend bool operator==(const ResourceType&, const ResourceType&) = default;
};

/// The built-in resources this program touches, and kNamespaces for its tests. A workload kind declares its own beside
/// its controller.
inline constexpr ResourceType kPods{"", "v1", "Pod", "pods"};
inline constexpr ResourceType kServices{"", "v1", "Service", "services"};
inline constexpr ResourceType kConfigMaps{"", "v1", "ConfigMap", "configmaps"};
inline constexpr ResourceType kVolumeClaims{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"};
inline constexpr ResourceType kPodTemplates{"", "v1", "PodTemplate", "podtemplates"};
inline constexpr ResourceType kJobs{"batch", "v1", "Job", "jobs"};
inline constexpr ResourceType kStatefulSets{"apps", "v1", "StatefulSet", "statefulsets"};
inline constexpr ResourceType kControllerRevisions{"apps", "v1", "ControllerRevision", "controllerrevisions"};
inline constexpr ResourceType kNodes{"", "v1", "Node", "nodes", false};
inline constexpr ResourceType kNamespaces{"", "v1", "Namespace", "namespaces", false};
inline constexpr ResourceType kSecrets{"", "v1", "Secret", "secrets"};
inline constexpr ResourceType kServiceAccounts{"", "v1", "ServiceAccount", "serviceaccounts"};
inline constexpr ResourceType kRoles{"rbac.authorization.k8s.io", "v1", "Role", "roles"};
inline constexpr ResourceType kRoleBindings{"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings"};
inline constexpr ResourceType kIngresses{"networking.k8s.io", "v1", "Ingress", "ingresses"};
inline constexpr ResourceType kLeases{"coordination.k8s.io", "v1", "Lease", "leases"};
inline constexpr ResourceType kEvents{"events.k8s.io", "v1", "Event", "events"};
inline constexpr ResourceType kTokenReviews{"authentication.k8s.io", "v1", "TokenReview", "tokenreviews", false};
inline constexpr ResourceType kSubjectAccessReviews{"authorization.k8s.io", "v1", "SubjectAccessReview",
                                                    "subjectaccessreviews", false};

}  // namespace tpuslice
