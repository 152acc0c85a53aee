// Matching of requests against admission webhooks.
#pragma once

#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/registry/registry.h"
#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

/// One entry of a configuration's `webhooks`; borrowed from its stored configuration.
struct Webhook {
  std::string configuration;
  JsonPtr owner;  ///< Keeps `entry` alive.
  const Json* entry = nullptr;

  [[nodiscard]] std::string name() const { return string_at(*entry, {"name"}); }
  [[nodiscard]] bool ignores_failures() const { return string_at(*entry, {"failurePolicy"}) == "Ignore"; }
};

/// All webhooks of one kind of configuration, sorted by configuration name. `resource` is
/// "mutatingwebhookconfigurations.admissionregistration.k8s.io" or the validating one.
[[nodiscard]] std::vector<Webhook> configured_webhooks(const Storage& storage, std::string_view resource);

/// The variable `request` of match conditions: an admission/v1 AdmissionRequest without its objects.
[[nodiscard]] Json request_attributes(const AdmissionRequest& request, const std::string& uid);

/// Checks rules, namespaceSelector, objectSelector, then matchConditions. `object` is null for DELETE.
///
/// Errors: InvalidArgument if a selector or condition cannot be evaluated; the caller applies the failure policy.
[[nodiscard]] Result<bool> matches(const Webhook& webhook, const AdmissionRequest& request, const Json& object,
                                   const Storage& storage);

}  // namespace tpuslice::sim
