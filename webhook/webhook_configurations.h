// The objects by which the API server knows of the webhook.
#pragma once

#include <string_view>

#include "api/types/object.h"

namespace tpuslice::webhook {

inline constexpr ResourceType kMutatingConfigurations{
    "admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false};
inline constexpr ResourceType kValidatingConfigurations{
    "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false};

/// Name of both configurations.
inline constexpr std::string_view kConfigurationName = "tpu-slice-operator";
/// The webhooks of the mutating configuration that the operator itself looks for.
inline constexpr std::string_view kPodWebhook = "pods.tpuslice.dev";
inline constexpr std::string_view kProbeWebhook = "probe.tpuslice.dev";

}  // namespace tpuslice::webhook
