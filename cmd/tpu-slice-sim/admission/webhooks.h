// WebhookAdmission: calls the admission webhooks that are configured in the simulated cluster.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/http/transport.h"
#include "cmd/tpu-slice-sim/registry/ids.h"
#include "cmd/tpu-slice-sim/registry/registry.h"
#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

/// Reads the webhook configurations from Storage at every request and calls the matching webhooks, sorted by
/// configuration name.
///
///   WebhookAdmission webhooks(storage, connect);
///   registry.set_admission([&webhooks](const AdmissionRequest& request) { return webhooks.mutate(request); },
///                          [&webhooks](const AdmissionRequest& request) { return webhooks.validate(request); });
///
/// Thread-safe; holds no lock during a call.
class WebhookAdmission {
 public:
  /// A transport to the server of a webhook's `clientConfig` (service or url, caBundle). Targets are absolute paths on
  /// that server. An error counts as a refused connection.
  using Connect = std::function<Result<std::shared_ptr<http::Transport>>(const Json& client_config)>;

  /// `storage` outlives it. `seed` determines the uids of the reviews.
  WebhookAdmission(const Storage& storage, Connect connect, std::uint64_t seed = 1);

  /// Returns `request.object` as the mutating webhooks changed it (for DELETE, the old object).
  ///
  /// Errors: a webhook's refusal ("admission webhook "x" denied the request: ..."), or InternalError if a webhook with
  /// failurePolicy Fail could not be called.
  [[nodiscard]] Result<Json> mutate(const AdmissionRequest& request);
  /// Calls the validating webhooks. Errors: the same.
  [[nodiscard]] Status validate(const AdmissionRequest& request);

 private:
  const Storage& storage_;
  const Connect connect_;
  Ids ids_;
};

}  // namespace tpuslice::sim
