// The children of a RayCluster other than pods and services: objects that its pods, or its users, need beside them.
//
// To add one, return it from desired_children() and child_keys(); its type is in kChildTypes.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/conditions.h"
#include "api/types/views.h"
#include "controllers/plan/child.h"
#include "controllers/raycluster/observed.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// A type of children, and the words of its events, which are upstream's.
struct ChildType {
  ResourceType type;
  std::string_view failure_reason;  ///< Reason of the failed action, and then of plan::kChildrenReady.
  std::string_view created_reason;
  std::string_view created;  ///< "Created role"
  std::string_view failed_reason;
  std::string_view failed;  ///< "Failed creating role"
  /// Reason of the event of an update; empty if upstream does not restore the type.
  std::string_view updated_reason = {};
  std::string_view updated = {};
  std::string_view failed_update_reason = {};
  std::string_view failed_update = {};
  bool exact = false;          ///< The API server adds no defaults, so that all of the content can be compared.
  bool needed_by_pods = true;  ///< Pods are not created without it.
};
inline constexpr std::array kChildTypes{
    ChildType{.type = kServiceAccounts,
              .failure_reason = "FailedServiceAccount",
              .created_reason = "CreatedServiceAccount",
              .created = "Created service account",
              .failed_reason = "FailedToCreateServiceAccount",
              .failed = "Failed creating service account"},
    ChildType{.type = kRoles,
              .failure_reason = "FailedRole",
              .created_reason = "CreatedRole",
              .created = "Created role",
              .failed_reason = "FailedToCreateRole",
              .failed = "Failed creating role",
              .exact = true},
    ChildType{.type = kRoleBindings,
              .failure_reason = "FailedRoleBinding",
              .created_reason = "CreatedRoleBinding",
              .created = "Created role binding",
              .failed_reason = "FailedToCreateRoleBinding",
              .failed = "Failed creating role binding",
              .exact = true},
    ChildType{.type = kIngresses,
              .failure_reason = "FailedIngress",
              .created_reason = "CreatedIngress",
              .created = "Created ingress",
              .failed_reason = "FailedToCreateIngress",
              .failed = "Failed creating ingress",
              .updated_reason = "UpdatedIngress",
              .updated = "Updated ingress",
              .failed_update_reason = "FailedToUpdateIngress",
              .failed_update = "Failed updating ingress",
              .exact = true,
              .needed_by_pods = false},
};

// Clusters that have children other than pods and services have the condition plan::kChildrenReady. Its reasons are
// ChildrenReady; ChildrenPending, ChildConflict, IngressConflict, kFailedSecret, and failure_reason of kChildTypes.
// Secrets are not read: one that is missing is not reported.
/// Reason of plan::kChildrenReady: an object of another owner has one of our names.
inline constexpr std::string_view kChildConflict = "ChildConflict";
/// The same for the ingress, which the pods do not need.
inline constexpr std::string_view kIngressConflict = "IngressConflict";
/// When to plan again while the objects of a type cannot be watched: no event follows.
inline constexpr Duration kUnwatchedRetry = std::chrono::seconds(5);

struct Child {
  ChildType type;
  Object desired;
  plan::ChildDecision decision;
  std::string uid = {};  ///< UID of the live object; empty without.
  bool watched = true;   ///< False: the live objects of the type are unknown.
  bool adopted = false;  ///< The decision makes an orphan a child.
};

/// Metadata of a child other than a pod or service: upstream's labels, and the cluster as its owner.
[[nodiscard]] Json child_metadata(const RayClusterSpec& spec, const std::string& name);

/// The children of `spec`, with the labels that our watches select by.
[[nodiscard]] std::vector<Object> desired_children(const RayClusterSpec& spec);

/// Names a child without building it.
struct ChildKey {
  ResourceType type;
  ObjectKey key;
  friend bool operator==(const ChildKey&, const ChildKey&) = default;
};

/// The keys of desired_children(), in the same order.
[[nodiscard]] std::vector<ChildKey> child_keys(const RayClusterSpec& spec);

/// Decides about each of `desired`. An object with the labels of a child that has no owner is adopted. While a type is
/// not watched, its child counts as present if plan::kChildrenReady is True for the present generation.
[[nodiscard]] std::vector<Child> decide_children(const RayClusterSpec& spec, std::vector<Object> desired,
                                                 const RayClusterObserved& seen);

/// Which objects of other owners have our names, and what to do about it; empty if none.
[[nodiscard]] std::string child_conflicts(const std::vector<Child>& children);

/// Whether pods may be created: the children that they need exist, or are written before the pods.
[[nodiscard]] bool are_usable(const std::vector<Child>& children);

/// Why the children cannot be used yet: a reason of plan::kChildrenReady.
[[nodiscard]] Problem child_problem(const std::vector<Child>& children,
                                    const std::optional<plan::Failure>& last_failure);

/// The Ingress by which clients outside the Kubernetes cluster reach Ray's dashboard, as headGroupSpec.ingressOptions
/// asks for it. It has the annotations of the cluster; kubernetes.io/ingress.class among them becomes its class.
[[nodiscard]] Object build_ingress(const RayClusterSpec& spec);

/// An Ingress without a class gets the default class of the Kubernetes cluster when it is created, and keeps it.
void keep_ingress_class(const ObjectView& live, Object& desired);

}  // namespace tpuslice::raycluster
