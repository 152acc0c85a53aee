// Types of objects that only the checks and the report read.
#pragma once

#include "api/types/resource_type.h"

namespace tpuslice::plugin {

inline constexpr ResourceType kCustomResourceDefinitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                                         "customresourcedefinitions", false};
inline constexpr ResourceType kDeployments{"apps", "v1", "Deployment", "deployments"};
inline constexpr ResourceType kMutatingWebhooks{"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
                                                "mutatingwebhookconfigurations", false};
inline constexpr ResourceType kValidatingWebhooks{
    "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false};
inline constexpr ResourceType kSelfReviews{"authorization.k8s.io", "v1", "SelfSubjectAccessReview",
                                           "selfsubjectaccessreviews", false};

/// Name of the operator's Deployment, Lease, service account and webhook configurations.
inline constexpr std::string_view kOperatorName = "tpu-slice-operator";

}  // namespace tpuslice::plugin
